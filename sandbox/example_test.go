package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/subnet112/assay/sandbox"
	"github.com/subnet112/assay/sandbox/wasmtest"
)

// A caller describes its guests, compiles one, and calls it.
func Example() {
	ctx := context.Background()
	engine, err := sandbox.New(ctx, sandbox.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close(ctx)

	wasm := wasmtest.Solver(wasmtest.Options{Answers: map[string]wasmtest.Answer{
		"solver_metadata": {Output: []byte(`{"name":"example"}`)},
		"solver_quote":    {Act: wasmtest.Trap},
	}})
	module, err := engine.Compile(ctx, wasm, sandbox.Profile{
		Name:    "solver",
		ABI:     "solver_abi",
		Exports: []sandbox.Export{{Name: "solver_metadata"}, {Name: "solver_quote", Optional: true}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	instance, err := module.Instantiate(ctx, sandbox.Env{Time: 1_700_000_000})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer instance.Close(ctx)

	result, err := instance.Call(ctx, sandbox.Call{Export: "solver_metadata", Wall: 5 * time.Second, Fuel: 2_000_000_000, OutputLimit: 1 << 20})
	fmt.Println(result.Status, string(result.Output), err)

	_, err = instance.Call(ctx, sandbox.Call{Export: "solver_quote", Wall: 5 * time.Second, Fuel: 2_000_000_000})
	var fault *sandbox.Fault
	if errors.As(err, &fault) {
		fmt.Println("the guest's own doing:", fault.Cause)
	}
	fmt.Println("alive:", instance.Alive())
	// Output:
	// 0 {"name":"example"} <nil>
	// the guest's own doing: trap
	// alive: false
}

// A refusal says in one line what to change.
func ExampleEngine_Check() {
	engine, err := sandbox.New(context.Background(), sandbox.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close(context.Background())
	wasm := wasmtest.Solver(wasmtest.Options{Omit: []string{"memory"}, Extra: [2]string{"env", "open"}})
	report, err := engine.Check(wasm, sandbox.Profile{})
	fmt.Println(err)
	fmt.Println(len(report.Problems), "problems,", report.Functions, "functions")
	// Output:
	// unknown import "env"."open"
	// 2 problems, 13 functions
}
