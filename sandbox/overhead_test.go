package sandbox_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/subnet112/assay/sandbox"
	"github.com/subnet112/assay/sandbox/meter"
	"github.com/subnet112/assay/sandbox/wasm"
)

// benchGuest builds a guest of testdata/bench. Without clang the C guest is
// nil and skipped by name, unless everything must be there.
func benchGuest(b *testing.B, language string) []byte {
	b.Helper()
	out := filepath.Join(b.TempDir(), "guest.wasm")
	build := buildGo(out, "./testdata/bench/go")
	if language == "C" {
		clang, err := exec.LookPath("clang-14")
		if err != nil {
			if mustHaveAll() {
				b.Fatal("no clang-14 for the C guest")
			}
			b.Log("skipped: C: no clang-14")
			return nil
		}
		build = exec.Command(clang, "--target=wasm32-wasi", "-O2", "-mexec-model=reactor", "-Wl,--stack-first,--strip-all",
			"-o", out, "testdata/bench/c/bench.c")
	}
	return built(b, build, out)
}

func buildGo(out, source string) *exec.Cmd {
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-buildmode=c-shared", "-o", out, source)
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	return build
}

func built(b *testing.B, build *exec.Cmd, out string) []byte {
	b.Helper()
	if text, err := build.CombinedOutput(); err != nil {
		b.Fatalf("build the guest: %v\n%s", err, text)
	}
	code, err := os.ReadFile(out)
	if err != nil {
		b.Fatal(err)
	}
	return code
}

// Ways to run a guest. The first is what the others are measured by.
const (
	plain   = iota // wazero alone
	fuelled        // rewritten, NaNs left as they are
	full           // rewritten as everything is
	option         // wazero with its option to stop at a deadline
	ways
)

func rewritten(b *testing.B, code []byte, o meter.Options) []byte {
	m, err := wasm.Decode(code, wasm.Bounds{})
	if err != nil {
		b.Fatal(err)
	}
	r, err := meter.Rewrite(m, o)
	if err != nil {
		b.Fatal(err)
	}
	return r.Bytes
}

// bare runs a guest in wazero without anything of the sandbox's but the refill.
func bare(b *testing.B, code []byte, way int) api.Module {
	switch way {
	case fuelled:
		code = rewritten(b, code, meter.Options{KeepNaNs: true})
	case full:
		code = rewritten(b, code, meter.Options{})
	}
	r := wazero.NewRuntimeWithConfig(b.Context(), wazero.NewRuntimeConfigCompiler().WithCloseOnContextDone(way == option))
	b.Cleanup(func() { r.Close(context.Background()) })
	wasi_snapshot_preview1.MustInstantiate(b.Context(), r)
	refill := func(_ context.Context, guest api.Module, _ []uint64) {
		fuel := guest.ExportedGlobal(meter.FuelGlobal).(api.MutableGlobal)
		if time.Now().IsZero() { // the host looks at the clock as well
			panic("no time")
		}
		fuel.Set(fuel.Get() + sandbox.Slice)
	}
	_, err := r.NewHostModuleBuilder(meter.ImportModule).NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(refill), nil, nil).Export(meter.ImportName).Instantiate(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	m, err := r.InstantiateWithConfig(b.Context(), code, wazero.NewModuleConfig().WithStartFunctions("_initialize"))
	if err != nil {
		b.Fatal(err)
	}
	return m
}

// BenchmarkOverhead compares the ways over guests in C and Go, interleaved, by
// the medians of their ratios to the plain one. It fails where the sandbox promises
// better.
func BenchmarkOverhead(b *testing.B) {
	const rounds = 15
	ctx, cancel := context.WithCancel(b.Context()) // one that can end, as wazero's option needs
	defer cancel()
	logs := [ways]float64{}
	worst := [ways]float64{}
	var table strings.Builder
	fmt.Fprintf(&table, "\n%-4s %-10s %10s %12s %12s %12s\n", "", "", "plain", "fuel, depth", "and NaN", "the option")
	count := 0
	for b.Loop() { // once: a round is long
		for _, language := range []string{"C", "Go"} {
			code := benchGuest(b, language)
			if code == nil {
				continue
			}
			modules := [ways]api.Module{}
			for way := range modules {
				modules[way] = bare(b, code, way)
			}
			repeats := map[string]uint64{"mixed": 40, "spin": 200, "matmul": 40, "recursion": 30}
			if language == "Go" {
				repeats = map[string]uint64{"mixed": 60, "spin": 100, "matmul": 30, "recursion": 27}
			}
			for _, name := range []string{"mixed", "spin", "matmul", "recursion"} {
				var times, ratios [ways][]float64
				for range rounds {
					for way, m := range modules {
						if depth := m.ExportedGlobal(meter.DepthGlobal); depth != nil {
							depth.(api.MutableGlobal).Set(meter.DepthSlots)
						}
						began := time.Now()
						if _, err := m.ExportedFunction(name).Call(ctx, repeats[name]); err != nil {
							b.Fatal(err)
						}
						times[way] = append(times[way], float64(time.Since(began)))
						ratios[way] = append(ratios[way], times[way][len(times[way])-1]/times[plain][len(times[plain])-1])
					}
				}
				fmt.Fprintf(&table, "%-4s %-10s %8.1fms", language, name, median(times[plain])/1e6)
				for way := fuelled; way < ways; way++ {
					ratio := median(ratios[way])
					logs[way] += math.Log(ratio)
					worst[way] = max(worst[way], ratio)
					fmt.Fprintf(&table, " %12.2f", ratio)
				}
				fmt.Fprintln(&table)
				count++
			}
		}
	}
	mean := [ways]float64{}
	fmt.Fprintf(&table, "%-26s", "geometric mean")
	for way := fuelled; way < ways; way++ {
		mean[way] = math.Exp(logs[way] / float64(count))
		fmt.Fprintf(&table, " %12.2f", mean[way])
	}
	fmt.Fprintf(&table, "\n%-26s %12.2f %12.2f %12.2f\n", "worst", worst[fuelled], worst[full], worst[option])
	fmt.Print(table.String()) // b.Log keeps ten lines
	b.ReportMetric(mean[fuelled], "fuel+depth")
	b.ReportMetric(mean[full], "with-NaN")
	b.ReportMetric(mean[option], "option")
	for _, promise := range []struct {
		what     string
		got, max float64
	}{
		{"fuel and depth, geometric mean", mean[fuelled], 1.40},
		{"fuel and depth, worst", worst[fuelled], 2.3},
		{"with NaN, worst", worst[full], 2.5},
		{"with NaN by the option, geometric mean", mean[full] / mean[option], 1 / 2.5},
	} {
		if promise.got > promise.max {
			b.Errorf("%s: %.2f, want at most %.2f", promise.what, promise.got, promise.max)
		}
	}
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

// BenchmarkRewrite is what admission of the reference solver in Go takes besides
// compiling it: 100 ms at most.
func BenchmarkRewrite(b *testing.B) {
	out := filepath.Join(b.TempDir(), "swap.wasm")
	code := built(b, buildGo(out, "../solvers/reference/swap"), out)
	b.SetBytes(int64(len(code)))
	for b.Loop() {
		rewritten(b, code, meter.Options{})
	}
}
