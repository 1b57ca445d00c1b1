package scoring

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gowebpki/jcs"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox"
)

// An app says some things twice: in its definition, which is what counts, and in
// the config and manifest that its code exports. This file finds the apps whose
// two halves differ, because one of them was written for another version.

// agree holds what the code exports against the definition.
func (a *App) agree(ctx context.Context) error {
	for _, part := range []struct {
		name, export string
		check        func(said map[string]json.RawMessage) error
	}{
		{"config", exportConfig, a.agreeConfig},
		{"manifest", exportManifest, a.agreeManifest},
	} {
		output, failed, err := a.program.call(ctx, sandbox.Call{Export: part.export})
		switch {
		case err != nil:
			return err
		case failed != nil && failed.absent:
			continue
		case failed != nil:
			return fmt.Errorf("js_code: %s: %s", part.name, failed.detail)
		}
		said := map[string]json.RawMessage{}
		if err := json.Unmarshal(output, &said); err != nil || said == nil {
			return fmt.Errorf("js_code: %s is no object", part.name)
		}
		if err := part.check(said); err != nil {
			return fmt.Errorf("js_code: %s.%w", part.name, err)
		}
	}
	return nil
}

// agreeConfig compares the fields of a config that the code names.
func (a *App) agreeConfig(said map[string]json.RawMessage) error {
	want, err := fieldsOf(a.definition.Config)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if err := same(key, said[key], want[key]); err != nil {
			return err
		}
	}
	return nil
}

// agreeManifest compares what a manifest decides with: the value rule, the quote
// and the plan's metadata, and names and types of functions and parameters.
func (a *App) agreeManifest(said map[string]json.RawMessage) error {
	manifest := intent.Manifest{}
	if a.definition.Manifest != nil {
		manifest = *a.definition.Manifest
	}
	want, err := fieldsOf(manifest)
	if err != nil {
		return err
	}
	if string(said["plan_metadata"]) == "false" {
		delete(said, "plan_metadata") // the definition leaves a false one out
	}
	for _, key := range []string{"plan_metadata", "quote", "value"} {
		if err := same(key, said[key], want[key]); err != nil {
			return err
		}
	}
	if len(said["intent_functions"]) == 0 || len(manifest.IntentFunctions) == 0 {
		return nil
	}
	functions, err := readFunctions(said["intent_functions"])
	if err != nil {
		return fmt.Errorf("intent_functions: %w", err)
	}
	code, declared := signatures(functions), signatures(manifest.IntentFunctions)
	for i := range max(len(code), len(declared)) {
		have, want := at(code, i), at(declared, i)
		// A side that names no parameters leaves them open.
		if have.params == "" || want.params == "" {
			have.params, want.params = "", ""
		}
		if have != want {
			return fmt.Errorf("intent_functions[%d] is %s, the definition says %s", i, have, want)
		}
	}
	return nil
}

// same compares one field as JSON values. A field that the code leaves out is
// free; one that the definition has not is absent.
func same(key string, said, want json.RawMessage) error {
	if said == nil {
		return nil
	}
	if want != nil {
		a, errA := canonical(said)
		b, errB := canonical(want)
		if errA == nil && errB == nil && bytes.Equal(a, b) {
			return nil
		}
	}
	shown := "nothing"
	if want != nil {
		shown = intent.Quoted(string(want), reasonRunes)
	}
	return fmt.Errorf("%s is %s, the definition says %s", key, intent.Quoted(string(said), reasonRunes), shown)
}

// canonical makes equal JSON values equal bytes. The array around the value is
// there because the library takes no bare ones.
func canonical(raw json.RawMessage) ([]byte, error) {
	return jcs.Transform(slices.Concat([]byte("["), raw, []byte("]")))
}

func fieldsOf(v any) (map[string]json.RawMessage, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	fields := map[string]json.RawMessage{}
	return fields, json.Unmarshal(b, &fields)
}

// A signature is the part of a function that both halves must agree on.
type signature struct{ name, params string }

func (s signature) String() string { return intent.Quoted(s.name+"("+s.params+")", reasonRunes) }

func signatures(functions []intent.Function) []signature {
	list := make([]signature, 0, len(functions))
	for _, f := range functions {
		params := make([]string, 0, len(f.Params))
		for _, p := range f.Params {
			params = append(params, p.Type+" "+p.Name)
		}
		list = append(list, signature{f.Name, strings.Join(params, ", ")})
	}
	return list
}

func at(list []signature, i int) signature {
	if i < len(list) {
		return list[i]
	}
	return signature{}
}

// readFunctions reads the functions of an exported manifest. Its parameters are
// an object in the order of the ABI, or a list like the definition's.
func readFunctions(raw json.RawMessage) ([]intent.Function, error) {
	var list []struct {
		Name   string          `json:"name"`
		Params json.RawMessage `json:"params"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, errors.New("not a list of functions")
	}
	functions := make([]intent.Function, 0, len(list))
	for i, f := range list {
		params, err := readParams(f.Params)
		if err != nil {
			return nil, fmt.Errorf("[%d].params: %w", i, err)
		}
		functions = append(functions, intent.Function{Name: f.Name, Params: params})
	}
	return functions, nil
}

var errParams = errors.New("neither an object nor a list of parameters")

func readParams(raw json.RawMessage) ([]intent.Param, error) {
	var params []intent.Param
	switch kindOf(raw) {
	case "", "null":
		return nil, nil
	case "array":
		var list []struct {
			Name string `json:"name"`
			Type string `json:"type"`
		}
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, errParams
		}
		for _, p := range list {
			params = append(params, intent.Param{Name: p.Name, Type: p.Type})
		}
		return params, nil
	case "object":
	default:
		return nil, errParams
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if _, err := decoder.Token(); err != nil { // the brace
		return nil, errParams
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, errParams
		}
		var spec struct {
			Type string `json:"type"`
		}
		if err := decoder.Decode(&spec); err != nil {
			return nil, errParams
		}
		params = append(params, intent.Param{Name: name.(string), Type: spec.Type})
	}
	return params, nil
}
