package signalbox_test

import (
	"errors"
	"testing"

	"google.golang.org/protobuf/proto"

	signalbox "github.com/signalbox-dev/signalbox/clients/go"
	pb "github.com/signalbox-dev/signalbox/clients/go/signalboxpb"
)

func TestEveryShapeIsTheSameTool(t *testing.T) {
	const schema = `{"type":"object"}`
	want := &pb.LoopTool{Name: "n", Source: "s", Description: "d", InputSchema: schema}
	for shape, raw := range map[string]string{
		"OpenAI, nested": `{"type":"function","function":{"name":"n","description":"d","parameters":` + schema + `}}`,
		"OpenAI, flat":   `{"type":"function","name":"n","description":"d","parameters":` + schema + `}`,
		"Anthropic":      `{"name":"n","description":"d","input_schema":` + schema + `}`,
		"MCP":            `{"name":"n","description":"d","inputSchema":` + schema + `}`,
	} {
		got, err := signalbox.LoopTool("s", []byte(raw))
		if err != nil || !proto.Equal(got, want) {
			t.Errorf("%s: %v, %v", shape, got, err)
		}
	}
	hinted, err := signalbox.LoopTool("", []byte(`{"name":"n","annotations":{"readOnlyHint":true}}`))
	if err != nil || !hinted.GetHints().GetReadOnly() || hinted.GetHints().Destructive != nil {
		t.Errorf("hints: %v, %v", hinted, err)
	}
	for _, raw := range []string{`{"type":"web_search"}`, `[]`, `{`} {
		if tool, err := signalbox.LoopTool("", []byte(raw)); err == nil {
			t.Errorf("%s became %v", raw, tool)
		}
	}
}

func TestEqualCallsLookEqual(t *testing.T) {
	type arguments struct {
		B []int `json:"b"`
		A int   `json:"a"`
	}
	first, err := signalbox.Call("t", arguments{B: []int{2}, A: 1}, "out", nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := signalbox.Call("t", map[string]any{"a": 1, "b": []int{2}}, "out", nil)
	if err != nil || !proto.Equal(first, second) || first.Arguments != `{"a":1,"b":[2]}` {
		t.Errorf("%v and %v, %v", first, second, err)
	}
	failed, err := signalbox.Call("t", "as it is", "", errors.New("why"))
	if err != nil || failed.Outcome != pb.CallOutcome_CALL_OUTCOME_FAILED || failed.Output != "why" ||
		failed.Arguments != "as it is" {
		t.Errorf("%v, %v", failed, err)
	}
	if _, err := signalbox.Call("t", make(chan int), "", nil); err == nil {
		t.Error("a channel became JSON")
	}
}

func TestKeptIsWithinBounds(t *testing.T) {
	filtered := &pb.FilteredTools{Kept: []*pb.KeptTool{{Index: 1}, {Index: 7}, {Index: -1}}}
	if kept := signalbox.Kept([]string{"a", "b"}, filtered); len(kept) != 1 || kept[0] != "b" {
		t.Errorf("kept %v", kept)
	}
}
