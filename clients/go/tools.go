package signalbox

import (
	"encoding/json"
	"errors"
	"fmt"

	pb "github.com/signalbox-dev/signalbox/clients/go/signalboxpb"
)

// definition has the fields that OpenAI, Anthropic and MCP give a tool.
type definition struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	Parameters   json.RawMessage `json:"parameters"`
	InputSchema  json.RawMessage `json:"input_schema"`
	InputSchemaC json.RawMessage `json:"inputSchema"`
	Annotations  struct {
		ReadOnly    *bool `json:"readOnlyHint"`
		Destructive *bool `json:"destructiveHint"`
		Idempotent  *bool `json:"idempotentHint"`
		OpenWorld   *bool `json:"openWorldHint"`
	} `json:"annotations"`
	Function *definition `json:"function"`
}

// LoopTool reads the JSON of a tool as OpenAI (nested or flat), Anthropic or MCP define it.
func LoopTool(source string, raw []byte) (*pb.LoopTool, error) {
	var read definition
	if err := json.Unmarshal(raw, &read); err != nil {
		return nil, fmt.Errorf("a tool definition cannot be read: %w", err)
	}
	if read.Function != nil {
		read = *read.Function
	}
	if read.Name == "" {
		return nil, errors.New("a tool definition has no name")
	}
	tool := &pb.LoopTool{Name: read.Name, Source: source, Description: read.Description}
	for _, schema := range []json.RawMessage{read.InputSchema, read.InputSchemaC, read.Parameters} {
		if len(schema) > 0 && string(schema) != "null" && string(schema) != "{}" {
			tool.InputSchema = string(schema)
			break
		}
	}
	hints := read.Annotations
	if hints.ReadOnly != nil || hints.Destructive != nil || hints.Idempotent != nil ||
		hints.OpenWorld != nil {
		tool.Hints = &pb.ToolHints{
			ReadOnly:    hints.ReadOnly,
			Destructive: hints.Destructive,
			Idempotent:  hints.Idempotent,
			OpenWorld:   hints.OpenWorld,
		}
	}
	return tool, nil
}

// Kept answers the definitions that a filter kept, in their order and as they are. They have to be
// those that were filtered.
func Kept[T any](definitions []T, filtered *pb.FilteredTools) []T {
	kept := make([]T, 0, len(filtered.GetKept()))
	for _, tool := range filtered.GetKept() {
		if index := int(tool.Index); index >= 0 && index < len(definitions) {
			kept = append(kept, definitions[index])
		}
	}
	return kept
}

// Call makes a call with its result ready for ReportedStep.Calls. Arguments that are no string are
// written as JSON with sorted keys, so that equal calls look equal to the loop guard.
func Call(tool string, arguments any, output string, failure error) (*pb.ReportedCall, error) {
	call := &pb.ReportedCall{
		Tool: tool, Output: output, Outcome: pb.CallOutcome_CALL_OUTCOME_SUCCEEDED,
	}
	if failure != nil {
		call.Outcome = pb.CallOutcome_CALL_OUTCOME_FAILED
		if output == "" {
			call.Output = failure.Error()
		}
	}
	if text, ok := arguments.(string); ok {
		call.Arguments = text
		return call, nil
	}
	// By way of a generic value: a map's keys are written sorted, a struct's as declared.
	raw, err := json.Marshal(arguments)
	if err != nil {
		return nil, fmt.Errorf("the arguments of %s are no JSON: %w", tool, err)
	}
	var generic any
	if err := json.Unmarshal(raw, &generic); err != nil {
		return nil, err
	}
	if raw, err = json.Marshal(generic); err != nil {
		return nil, err
	}
	call.Arguments = string(raw)
	return call, nil
}
