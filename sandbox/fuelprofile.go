package sandbox

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// A FuelProfile gathers how much fuel was spent in which function of which guest,
// call stacks included, of the instances that have an [Env.Subject]: see
// [Config.FuelProfile]. It may be read while guests
// run. The zero value is empty.
//
// It is exact, not sampled, and changes no fuel; it makes guests many times
// slower. What host calls cost stands at the function that called them.
type FuelProfile struct {
	mu    sync.Mutex
	roots map[root]*node
	nodes int
}

// A root is where stacks begin: an export called on behalf of a subject.
type root struct {
	subject [32]byte
	export  string
}

// A node is a function where it was called from.
type node struct {
	name  string
	fuel  uint64
	calls map[uint32]*node
}

// Limits of a profile. What lies beyond is counted where the limit was met.
const (
	profileDepth = 256     // frames of a stack
	profileNodes = 500_000 // different stacks in all
)

// A FuelSample is the fuel spent in one function, called on one stack.
type FuelSample struct {
	Subject [32]byte // [Env.Subject]
	Stack   []string // functions, the outermost first: the export, then its callees, as in messages
	Fuel    uint64   // spent in the innermost itself
}

// Samples gives what was gathered, in an order that repeats.
func (p *FuelProfile) Samples() []FuelSample {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []FuelSample
	var walk func(subject [32]byte, n *node, stack []string)
	walk = func(subject [32]byte, n *node, stack []string) {
		stack = append(stack, n.name)
		if n.fuel > 0 {
			out = append(out, FuelSample{Subject: subject, Stack: slices.Clone(stack), Fuel: n.fuel})
		}
		for _, index := range slices.Sorted(maps.Keys(n.calls)) {
			walk(subject, n.calls[index], stack)
		}
	}
	roots := make([]root, 0, len(p.roots))
	for r := range p.roots {
		roots = append(roots, r)
	}
	slices.SortFunc(roots, func(a, b root) int {
		if c := slices.Compare(a.subject[:], b.subject[:]); c != 0 {
			return c
		}
		return cmp.Compare(a.export, b.export)
	})
	for _, r := range roots {
		walk(r.subject, p.roots[r], nil)
	}
	return out
}

// A tracer follows one call. Only the goroutine that runs the guest uses it.
type tracer struct {
	profile *FuelProfile
	call    *call
	stack   []*node
	deeper  int    // frames beyond profileDepth, counted at the last one
	spent   uint64 // when the stack last changed
}

// trace begins the profile of a call; nil if it has none.
func (p *FuelProfile) trace(c *call, export string) *tracer {
	subject := c.instance.env.Subject
	if p == nil || subject == [32]byte{} {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	r := root{subject, export}
	if p.roots == nil {
		p.roots = map[root]*node{}
	}
	if p.roots[r] == nil {
		p.roots[r] = &node{name: export}
	}
	return &tracer{profile: p, call: c, stack: []*node{p.roots[r]}}
}

// settle counts what was spent since the stack last changed; the caller holds
// the profile's lock.
func (t *tracer) settle() {
	spent := t.call.tank.spent()
	t.stack[len(t.stack)-1].fuel += spent - t.spent
	t.spent = spent
}

func (t *tracer) enter(index uint32) {
	t.profile.mu.Lock()
	defer t.profile.mu.Unlock()
	t.settle()
	if t.deeper > 0 || len(t.stack) >= profileDepth {
		t.deeper++
		return
	}
	top := t.stack[len(t.stack)-1]
	next := top.calls[index]
	if next == nil {
		if t.profile.nodes >= profileNodes {
			t.deeper++
			return
		}
		next = &node{name: t.call.instance.module.functionName(index)}
		if top.calls == nil {
			top.calls = map[uint32]*node{}
		}
		top.calls[index] = next
		t.profile.nodes++
	}
	t.stack = append(t.stack, next)
}

func (t *tracer) leave() {
	t.profile.mu.Lock()
	defer t.profile.mu.Unlock()
	t.settle()
	if t.deeper > 0 {
		t.deeper--
		return
	}
	t.stack = t.stack[:len(t.stack)-1]
}

// end counts what the call spent since the guest was left.
func (t *tracer) end() {
	if t == nil {
		return
	}
	t.profile.mu.Lock()
	defer t.profile.mu.Unlock()
	t.settle()
}

// functionName names a function of the rewritten module for people.
func (m *Module) functionName(index uint32) string {
	original, ok := m.meter.Original(index)
	if !ok {
		return "bulk memory"
	}
	if name, ok := functionName(m.names, original); ok {
		return quoted(name)
	}
	return describe(nil, original)
}

// profiled makes wazero tell the tracer of a call about each function.
func profiled(ctx context.Context) context.Context {
	return experimental.WithFunctionListenerFactory(ctx, experimental.FunctionListenerFactoryFunc(
		func(api.FunctionDefinition) experimental.FunctionListener { return listener{} }))
}

type listener struct{}

func tracerOf(ctx context.Context) *tracer {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return nil
	}
	return c.tracer
}

// Before implements wazero's FunctionListener.
func (listener) Before(ctx context.Context, guest api.Module, f api.FunctionDefinition, _ []uint64, _ experimental.StackIterator) {
	if t := tracerOf(ctx); t != nil {
		t.call.tank.open(guest)
		t.enter(f.Index())
	}
}

// After implements wazero's FunctionListener.
func (listener) After(ctx context.Context, _ api.Module, _ api.FunctionDefinition, _ []uint64) {
	if t := tracerOf(ctx); t != nil {
		t.leave()
	}
}

// Abort implements wazero's FunctionListener.
func (listener) Abort(ctx context.Context, _ api.Module, _ api.FunctionDefinition, _ error) {
	if t := tracerOf(ctx); t != nil {
		t.leave()
	}
}
