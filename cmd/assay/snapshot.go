package main

import (
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/subnet112/assay/chain"
)

func newSnapshot(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "snapshot",
		Short: "Import, describe and verify chain snapshots",
		Long:  "A snapshot is a content-addressed file with the state of a chain that a\nbenchmark runs on.\n" + exitStatus,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &hinted{usagef("unknown snapshot command %q", args[0]), "see assay snapshot --help"}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSnapshotImport(s), newSnapshotInfo(s), newSnapshotVerify(s))
	return cmd
}

func newSnapshotImport(s streams) *cobra.Command {
	var prestate, block, hashes, out string
	var chainID uint64
	var output outputFormat
	cmd := &cobra.Command{
		Use:   "import --prestate FILE --block FILE --out FILE",
		Short: "Make a snapshot of a node's prestate trace and its block",
		Long: `Makes a snapshot of two documents that a node gives: the state that a block
touches, as its prestate tracer prints it, and the block, as
eth_getBlockByNumber returns it. Both may be gzipped. The block becomes the
context that everything runs in. Nothing proves the state: the snapshot says
that it is imported.
` + exitStatus,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			for _, f := range []struct{ flag, value string }{{"prestate", prestate}, {"block", block}, {"out", out}} {
				if f.value == "" {
					return &hinted{usagef("--%s is required", f.flag), "see assay snapshot import --help"}
				}
			}
			snap, err := importFiles(prestate, block, hashes, chainID)
			if err != nil {
				return err
			}
			b, err := snap.Encode()
			if err != nil {
				return usagef("%s: %w", prestate, err)
			}
			if err := replaceFile(out, b); err != nil {
				return err
			}
			report, err := snap.Verify()
			if err != nil {
				return err
			}
			return printReport(s.out, output, out, report)
		},
	}
	f := cmd.Flags()
	f.StringVar(&prestate, "prestate", "", "prestate JSON by address")
	f.StringVar(&block, "block", "", "block JSON as a node returns it")
	f.StringVar(&hashes, "block-hashes", "", "JSON {number: hash}, for BLOCKHASH")
	f.Uint64Var(&chainID, "chain-id", 1, "id of the chain")
	f.StringVarP(&out, "out", "o", "", "snapshot file to write")
	output.register(cmd)
	return cmd
}

func importFiles(prestate, block, hashes string, chainID uint64) (*chain.Snapshot, error) {
	state, err := openMaybeGzip(prestate)
	if err != nil {
		return nil, err
	}
	defer state.Close()
	header, err := openMaybeGzip(block)
	if err != nil {
		return nil, err
	}
	defer header.Close()
	var earlier io.Reader
	if hashes != "" {
		f, err := openMaybeGzip(hashes)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		earlier = f
	}
	snap, err := chain.ImportPrestate(state, header, earlier, chainID)
	if err != nil {
		return nil, usagef("import %s with %s: %w", prestate, block, err)
	}
	return snap, nil
}

func newSnapshotInfo(s streams) *cobra.Command {
	var output outputFormat
	cmd := &cobra.Command{
		Use:   "info FILE",
		Short: "Describe a snapshot",
		Long:  "Prints what a snapshot holds and what it is worth.\n" + exitStatus,
		Args:  oneArg("one snapshot file"),
		RunE: func(_ *cobra.Command, args []string) error {
			report, err := reportOn(args[0])
			if err != nil {
				return err
			}
			return printReport(s.out, output, args[0], report)
		},
	}
	output.register(cmd)
	return cmd
}

func newSnapshotVerify(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify FILE...",
		Short: "Check snapshots and say whether they are proved or imported",
		Long:  "Checks every checksum, the order and completeness of the content, the\nanchor's header and, for a closed snapshot, the state root rebuilt from it.\n" + exitStatus,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &hinted{usagef("no snapshot given"), "see assay snapshot verify --help"}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			for _, path := range args {
				report, err := reportOn(path)
				if err != nil {
					return err
				}
				fmt.Fprintf(s.out, "%s: %s\n  content %s\n", printable(path), report.Statement(), hex.EncodeToString(report.Hash[:]))
			}
			return nil
		},
	}
	return cmd
}

func reportOn(path string) (chain.Report, error) {
	snap, err := openSnapshot(path)
	if err != nil {
		return chain.Report{}, err
	}
	report, err := snap.Verify()
	if err != nil {
		return chain.Report{}, usagef("%s: %w", path, err)
	}
	return report, nil
}

func openSnapshot(path string) (*chain.Snapshot, error) {
	snap, err := chain.OpenSnapshot(path)
	if err != nil {
		return nil, usagef("%w", withoutPathTwice(path, err))
	}
	return snap, nil
}

func printReport(w io.Writer, format outputFormat, path string, r chain.Report) error {
	c := r.Context
	if format == outputJSON {
		return writeJSON(w, map[string]any{
			"schema": 1, "file": path, "content": hex.EncodeToString(r.Hash[:]), "chain_id": r.ChainID,
			"fork_rules": r.ForkRules, "provenance": r.Provenance, "closed": r.Closed, "statement": r.Statement(),
			"context": map[string]any{
				"number": c.Number, "time": c.Time, "base_fee": c.BaseFee.Dec(), "blob_base_fee": c.BlobBaseFee.Dec(),
				"prev_randao": c.PrevRandao.Hex(), "coinbase": c.Coinbase.Hex(), "gas_limit": c.GasLimit,
			},
			"accounts": r.Accounts, "slots": r.Slots, "absent": r.Absent, "codes": r.Codes,
			"block_hashes": r.BlockHashes, "content_bytes": r.ContentBytes, "code_bytes": r.CodeBytes,
		})
	}
	fmt.Fprintf(w, "content   %s\n", hex.EncodeToString(r.Hash[:]))
	fmt.Fprintf(w, "chain     %d, rules %s\n", r.ChainID, r.ForkRules)
	fmt.Fprintf(w, "state     %s\n", r.Statement())
	fmt.Fprintf(w, "context   block %d, %s\n", c.Number, time.Unix(int64(c.Time), 0).UTC().Format(time.RFC3339))
	fmt.Fprintf(w, "          base fee %s wei, gas limit %s\n", c.BaseFee.Dec(), thousands(c.GasLimit))
	fmt.Fprintf(w, "holds     %s accounts, %s slots, %s known absent, %s codes (%s)\n",
		thousands(uint64(r.Accounts)), thousands(uint64(r.Slots)), thousands(uint64(r.Absent)),
		thousands(uint64(r.Codes)), size(uint64(r.CodeBytes)))
	fmt.Fprintf(w, "          %s block hashes, %s of content\n", thousands(uint64(r.BlockHashes)), size(uint64(r.ContentBytes)))
	return nil
}

// maxImportBytes bounds what one document may unpack to.
const maxImportBytes = 1 << 30

// openMaybeGzip opens a file that may be gzipped, told by its first bytes.
func openMaybeGzip(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, usagef("%w", err)
	}
	var magic [2]byte
	n, err := io.ReadFull(f, magic[:])
	if err != nil && n == 0 {
		f.Close()
		return nil, usagef("%s: the file is empty or unreadable", path)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		f.Close()
		return nil, err
	}
	if n < 2 || magic != [2]byte{0x1f, 0x8b} {
		return f, nil
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		f.Close()
		return nil, usagef("%s: %w", path, err)
	}
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(z, maxImportBytes), f}, nil
}

// replaceFile writes a file whole or not at all.
func replaceFile(path string, b []byte) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return usagef("%w", err)
	}
	defer func() {
		if err != nil {
			os.Remove(tmp.Name())
		}
	}()
	if _, err := tmp.Write(b); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Chmod(0o644); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Sync(); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return usagef("%w", err)
	}
	return nil
}

// withoutPathTwice names the file exactly once: errors of the os name it already.
func withoutPathTwice(path string, err error) error {
	if strings.Contains(err.Error(), path) {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}
