package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/ethereum/go-ethereum/common"
	"github.com/spf13/cobra"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/intent"
)

type drawOptions struct {
	setup
	network   string
	epoch     uint64
	size      int
	heldOut   uint
	allow     string
	reference string
	out       string
	output    outputFormat
}

func newDraw(s streams) *cobra.Command {
	o := &drawOptions{}
	cmd := &cobra.Command{
		Use:   "draw --network NAME --epoch N --size N --reference FILE -o PACK",
		Short: "Draw the intents of an epoch and write the pack",
		Long: `Makes a pack whose intents nobody could prepare for. They come from the scenarios
of the apps of --pack and, with --allow, from its own intents; a pack has one of
each shape. The seed is a hash of network, epoch and the blocks that the chains
are pinned to; it decides which are taken and multiplies their amounts by 0.500 to
1.500. An intent that the reference solver does not serve from the snapshots is
left out. The same inputs give the same file.

--allow names a JSON file {"CHAIN ID": ["0x…", …]} of the tokens and pools that
intents of the past may name. --held-out marks a share of the intents, in basis
points; it changes no row.
` + exitStatus,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range []string{"network", "epoch", "size", "reference", "out"} {
				if !cmd.Flags().Changed(name) {
					return &hinted{usagef("--%s is missing", name), "see " + cmd.CommandPath() + " --help"}
				}
			}
			return o.run(cmd.Context(), s)
		},
	}
	o.register(cmd)
	f := cmd.Flags()
	f.StringVar(&o.network, "network", "", "name of the network the epoch is of")
	f.Uint64Var(&o.epoch, "epoch", 0, "number of the epoch")
	f.IntVar(&o.size, "size", 0, "intents to draw")
	f.UintVar(&o.heldOut, "held-out", 0, "share of held-out intents, in basis points")
	f.StringVar(&o.allow, "allow", "", "file of what history may name (default: no history)")
	f.StringVar(&o.reference, "reference", "", "solver that must serve every intent")
	f.StringVarP(&o.out, "out", "o", "", "pack file to write")
	o.output.register(cmd)
	return cmd
}

// A drawReport is the document of draw.
type drawReport struct {
	Schema  int                 `json:"schema"`
	File    string              `json:"file"`
	Digest  string              `json:"pack_digest"`
	Seed    string              `json:"seed"`
	Intents int                 `json:"intents"`
	Best    int                 `json:"with_best"`
	HeldOut int                 `json:"held_out"`
	Refused []benchmark.Refused `json:"refused"`
}

func (o *drawOptions) run(ctx context.Context, s streams) (err error) {
	base, err := o.loadPack()
	if err != nil {
		return err
	}
	snapshots, err := o.snapshots()
	if err != nil {
		return err
	}
	allowed, err := readAllowed(o.allow)
	if err != nil {
		return err
	}
	modules, err := readModules([]string{o.reference})
	if err != nil {
		return err
	}
	engine, err := o.sandbox(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close(context.WithoutCancel(ctx))) }()
	drawn, err := benchmark.Draw(ctx, benchmark.Drawing{
		Base: base, Network: o.network, Epoch: o.epoch, Size: o.size, HeldOut: o.heldOut, Allowed: allowed,
		Reference: benchmark.Entrant{Miner: minerOf(o.reference), Module: modules[0], Script: isScript(o.reference)},
	}, snapshots, engine)
	if drawn != nil && err != nil {
		renderRefused(s.err, drawn.Refused)
	}
	if err != nil {
		var missing *benchmark.SnapshotError
		if errors.As(err, &missing) {
			err = &hinted{err, o.chainHint(snapshots)}
		}
		return err
	}
	b, err := drawn.Pack.Encode()
	if err != nil {
		return err
	}
	digest, err := drawn.Pack.Digest()
	if err != nil {
		return err
	}
	if err := replaceFile(o.out, append(b, '\n')); err != nil {
		return err
	}
	r := drawReport{
		Schema: benchmark.PackSchema, File: o.out, Digest: digest, Seed: fmt.Sprintf("%x", drawn.Pack.Seed),
		Intents: len(drawn.Pack.Cases), Refused: drawn.Refused,
	}
	for _, c := range drawn.Pack.Cases {
		if c.Best != "" {
			r.Best++
		}
		if c.HeldOut {
			r.HeldOut++
		}
	}
	if o.output == outputJSON {
		return writeJSON(s.out, r)
	}
	fmt.Fprintf(s.out, "pack         %s\n", clip(intent.Quoted(r.File, 200), columns-13))
	fmt.Fprintf(s.out, "pack_digest  %s\n", r.Digest)
	fmt.Fprintf(s.out, "seed         %s\n", r.Seed)
	fmt.Fprintf(s.out, "intents      %d, best known of %d, %d held out\n", r.Intents, r.Best, r.HeldOut)
	renderRefused(s.out, r.Refused)
	return nil
}

func renderRefused(w io.Writer, refused []benchmark.Refused) {
	for i, r := range refused {
		lead := "left out     "
		if i > 0 {
			lead = "             "
		}
		fmt.Fprintf(w, "%s%s\n", lead, clip(printable(r.Source), columns-13))
		for _, line := range fold(r.Reason, columns-15) {
			fmt.Fprintf(w, "               %s\n", line)
		}
	}
}

// readAllowed reads the file of --allow, nil without one.
func readAllowed(path string) (map[uint64][]common.Address, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, usagef("%w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, intent.MaxDocumentBytes))
	if err != nil {
		return nil, usagef("%w", err)
	}
	var lists map[string][]string
	if err := json.Unmarshal(b, &lists); err != nil {
		return nil, usagef("%s: %w", path, err)
	}
	out := map[uint64][]common.Address{}
	for id, list := range lists {
		chainID, err := strconv.ParseUint(id, 10, 64)
		if err != nil {
			return nil, usagef("%s: %s is no chain id", path, intent.Quoted(id, 40))
		}
		out[chainID] = []common.Address{}
		for _, text := range list {
			if !common.IsHexAddress(text) {
				return nil, usagef("%s: chain %d: %s is no address", path, chainID, intent.Quoted(text, 60))
			}
			out[chainID] = append(out[chainID], common.HexToAddress(text))
		}
	}
	return out, nil
}
