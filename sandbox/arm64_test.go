//go:build linux

package sandbox_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/sandbox"
)

// coursesFile names, in the environment, what a process on another processor is
// to run; it writes the courses beside it.
const coursesFile = "ASSAY_COURSES"

// A journey is a session, and the fuel of each time it is run.
type journey struct {
	Session *session
	Fuel    []uint64
}

// Code for arm64 gives what code for this processor gives. It is emulated, which
// makes it slow: ASSAY_SOAK=1 takes all guests instead of one of each language.
func TestProcessorsAgree(t *testing.T) {
	if file := os.Getenv(coursesFile); file != "" {
		emulated(t, file)
		return
	}
	if runtime.GOARCH == "arm64" {
		t.Skip("skipped: arm64: this is one")
	}
	qemu, err := exec.LookPath("qemu-aarch64-static")
	if err != nil {
		if mustHaveAll() {
			t.Fatal(err)
		}
		t.Skip("skipped: arm64: qemu-aarch64-static is not installed: apt-get install qemu-user-static")
	}
	dir := t.TempDir()
	binary := filepath.Join(dir, "sandbox.test")
	build := exec.Command("go", "test", "-c", "-o", binary, ".")
	build.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build for arm64: %v\n%s", err, text)
	}

	seed := randomSeed(t)
	for _, group := range []struct {
		name     string
		sessions func() []*session
	}{
		{"languages", func() []*session { return languages(t) }},
		{"operations", func() []*session { return []*session{operating()} }},
		{"regress", func() []*session { return regressions(t) }},
		{"hostile", func() []*session { return hostiles(t) }},
		{"generated", func() []*session { return generated(seed) }},
	} {
		t.Run(group.name, func(t *testing.T) {
			all := group.sessions()
			switch {
			case soak():
			case group.name == "hostile":
				t.Skip("skipped: hostile guests: ASSAY_SOAK=1 runs them")
			case group.name == "generated":
				all = all[:20]
			}
			// The emulator gives back no memory that a guest has had: some at a time.
			for some := range slices.Chunk(all, 16) {
				processorsAgree(t, exec.Command(qemu, binary, "-test.run", "^TestProcessorsAgree$", "-test.timeout", "0"), some, seed)
			}
		})
	}
}

// processorsAgree runs sessions here and in another process, which is told by
// [coursesFile] what to run.
func processorsAgree(t *testing.T, there *exec.Cmd, all []*session, seed uint64) {
	var journeys []journey
	var want [][]course
	for _, s := range all {
		m := s.on(t, sandbox.Config{})
		whole, n := m.run(t, s.Fuel), s.often()
		if !soak() {
			n = min(n, 5)
		}
		j := journey{s, append([]uint64{s.Fuel}, s.cuts(seed, whole, n)...)}
		journeys, want = append(journeys, j), append(want, m.courses(t, j))
	}
	file := filepath.Join(t.TempDir(), "courses.json")
	text, err := json.Marshal(journeys)
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	there.Env = append(os.Environ(), coursesFile+"="+file)
	if text, err := there.CombinedOutput(); err != nil {
		t.Fatalf("on arm64: %v\n%s", err, bytes.ToValidUTF8(text, nil))
	}
	var got struct {
		Processor string
		Courses   [][]course
	}
	if text, err = os.ReadFile(file + ".out"); err == nil {
		err = json.Unmarshal(text, &got)
	}
	if err != nil || got.Processor != "arm64" || len(got.Courses) != len(want) {
		t.Fatalf("on %s: %d sessions of %d, %v", got.Processor, len(got.Courses), len(want), err)
	}
	for i, j := range journeys {
		for k, fuel := range j.Fuel {
			if diff := cmp.Diff(want[i][k], got.Courses[i][k]); diff != "" {
				t.Errorf("%s with fuel of %d (-%s +arm64):\n%s", j.Session.Name, fuel, runtime.GOARCH, diff)
			}
		}
	}
}

// emulated runs what the file says, for the process that started this one.
func emulated(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var journeys []journey
	if err := json.Unmarshal(text, &journeys); err != nil {
		t.Fatal(err)
	}
	out := struct {
		Processor string
		Courses   [][]course
	}{Processor: runtime.GOARCH}
	for _, j := range journeys {
		out.Courses = append(out.Courses, j.Session.on(t, sandbox.Config{}).courses(t, j))
	}
	if text, err = json.Marshal(out); err == nil {
		err = os.WriteFile(file+".out", text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (m *machine) courses(t *testing.T, j journey) (all []course) {
	for _, fuel := range j.Fuel {
		all = append(all, m.run(t, fuel))
	}
	if len(all) == 0 {
		t.Fatal(fmt.Sprint(m.Name, ": nothing to run"))
	}
	return all
}
