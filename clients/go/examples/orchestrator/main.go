// Orchestrator routes a prompt, runs a guarded loop, and shows the journal.
//
//	go run ./examples/orchestrator "Create a branch for the login feature"
//
// SIGNALBOX_TARGET says where signalbox is (127.0.0.1:50051 if absent). The "model" here asks for
// the same call again and again, so that the example needs no key.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	signalbox "github.com/signalbox-dev/signalbox/clients/go"
	pb "github.com/signalbox-dev/signalbox/clients/go/signalboxpb"
)

// Tools as they are given to the model.
var definitions = []string{
	`{"name": "run_command", "description": "Runs a command of the shell", "input_schema":
		{"type": "object", "properties": {"command": {"type": "string"}}}}`,
	`{"name": "delete_repository", "description": "Deletes a repository for good"}`,
}

func main() {
	if err := run(strings.Join(os.Args[1:], " ")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(prompt string) error {
	target := os.Getenv("SIGNALBOX_TARGET")
	if target == "" {
		target = "127.0.0.1:50051"
	}
	if prompt == "" {
		prompt = "Create a branch for the login feature"
	}
	client, err := signalbox.New(target)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	answer, err := client.Route(ctx, &pb.RouteRequest{Prompt: prompt})
	if err != nil {
		return err
	}
	fmt.Printf("%s: %s\n", answer.Decision.Outcome, answer.Decision.Reason)
	for _, match := range answer.Matches[:min(3, len(answer.Matches))] {
		fmt.Printf("  %.2f %s\n", match.Score, match.Entry.Name)
	}

	request := &pb.CreateLoopRequest{
		Input:  prompt,
		Config: &pb.LoopConfig{ToolProfile: &pb.ToolProfile{Exclude: []string{"delete_*"}}},
	}
	for _, each := range definitions {
		tool, err := signalbox.LoopTool("example", []byte(each))
		if err != nil {
			return err
		}
		request.Tools = append(request.Tools, tool)
	}
	var loopID string
	ended, err := client.WithLoop(ctx, request, func(ctx context.Context, loop *signalbox.Loop) error {
		loopID = loop.ID
		fmt.Printf("loop %s sees %d tool(s)\n", loop.ID, len(signalbox.Kept(definitions, loop.Tools)))
		return think(ctx, loop)
	})
	if err != nil {
		return err
	}
	fmt.Printf("ended: %s\n", ended.Reason)

	events := client.FollowEvents(ctx, &pb.StreamEventsRequest{LoopId: loopID, ReplayOnly: true})
	defer events.Close()
	for entry, err := range events.All() {
		if err != nil {
			return err
		}
		fmt.Printf("  %d %T\n", entry.Sequence, entry.Event.Event)
	}
	return nil
}

// think is the agent: it calls tools until it is done or the guard stops it.
func think(ctx context.Context, loop *signalbox.Loop) error {
	for turn := int32(1); turn <= 10; turn++ {
		arguments := map[string]any{"command": "git push"}
		failure := errors.New("remote rejected the push")
		call, err := signalbox.Call("run_command", arguments, "", failure)
		if err != nil {
			return err
		}
		step := &pb.ReportedStep{Iteration: turn, Calls: []*pb.ReportedCall{call}}
		verdict, err := loop.Report(ctx, step)
		if err != nil {
			return err
		}
		fmt.Printf("turn %d: %s %s\n", turn, verdict.Decision, verdict.Text)
		if verdict.Decision == pb.GuardDecision_GUARD_DECISION_STOP {
			return nil
		}
	}
	return nil
}
