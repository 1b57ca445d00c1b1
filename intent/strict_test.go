package intent_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/intent"
)

// hash is text as packs have it: a type of its own with its own spelling.
type hash [2]byte

func (h *hash) UnmarshalText(b []byte) error {
	if len(b) != 4 {
		return errors.New("want 4 hex digits")
	}
	_, err := hex.Decode(h[:], b)
	return err
}

type document struct {
	Schema int                  `json:"schema" strict:"required"`
	Name   string               `json:"name"`
	Hash   hash                 `json:"hash"`
	State  *intent.State        `json:"state"`
	Apps   []intent.Interaction `json:"apps"`
	Small  uint8                `json:"small"`
	Signed int32                `json:"signed"`
	Truth  *bool                `json:"truth"`
	Index  map[string]hash      `json:"index"`
	Free   any                  `json:"free"`
	hidden int
	Skip   int `json:"-"`
}

func TestDecodeStrict(t *testing.T) {
	t.Parallel()
	got := document{Name: "default", Skip: 3, hidden: 4}
	err := intent.DecodeStrict([]byte(`{"schema":1,"hash":"ab01","apps":[{"target":"t","value":"1","call_data":"0x"}],
		"small":255,"signed":-2147483648,"truth":false,"index":{"a":"0000","":"ffff"},"free":[null,true,{"n":1.50}],
		"state":{"contract_address":"","chain_id":1,"nonce":2,"owner":"o","extra":{"_c":1,"p":2}}}`), &got)
	if err != nil {
		t.Fatal(err)
	}
	yes := false
	want := document{
		Schema: 1, Name: "default", Hash: hash{0xab, 1}, Small: 255, Signed: -2147483648, Truth: &yes,
		Apps:  []intent.Interaction{{Target: "t", Value: "1", CallData: "0x", ChainID: 1}},
		Index: map[string]hash{"a": {}, "": {0xff, 0xff}},
		Free:  []any{nil, true, map[string]any{"n": json.Number("1.50")}},
		State: &intent.State{
			ChainID: 1, Nonce: 2, Owner: "o", ContextVersion: "v2", PolicyTier: "hybrid",
			RawParams: map[string]any{"p": json.Number("2")},
			Control:   map[string]any{"_c": json.Number("1")},
			Extra:     map[string]any{"p": json.Number("2"), "_c": json.Number("1")},
		},
		hidden: 4, Skip: 3,
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(document{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDecodeStrictRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, doc, want string }{
		{"a value its type refuses", `{"schema":1,"hash":"abc"}`, `hash: "abc": want 4 hex digits`},
		{"an integer above its type", `{"schema":1,"small":256}`, `small: 256 is out of range`},
		{"an integer below its type", `{"schema":1,"signed":-2147483649}`, `signed: -2147483649 is out of range`},
		{"a field that is not JSON", `{"schema":1,"hidden":1}`, `unknown field "hidden"`},
		{"a camelCase twin", `{"schema":1,"state":{"contractAddress":""}}`, `state: unknown field "contractAddress"`},
		{"null in a list", `{"schema":1,"apps":[null]}`, `apps[0]: want an object, found null`},
		{"null in a map", `{"schema":1,"index":{"a b":null}}`, `index["a b"]: want a string, found null`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := intent.DecodeStrict([]byte(tt.doc), new(document))
			var refusal *intent.DecodeError
			if !errors.As(err, &refusal) || err.Error() != tt.want {
				t.Errorf("DecodeStrict() = %v, want %v", err, tt.want)
			}
		})
	}
}

// An open document may have grown, anywhere, and is held to everything else.
func TestDecodeOpen(t *testing.T) {
	t.Parallel()
	var got document
	err := intent.DecodeOpen([]byte(`{"schema":1,"new":{"a":[1,{"b":null}]},"apps":[{"target":"t","value":"1","new":"","call_data":"0x"}]}`), &got)
	if err != nil {
		t.Fatal(err)
	}
	want := document{Schema: 1, Apps: []intent.Interaction{{Target: "t", Value: "1", CallData: "0x", ChainID: 1}}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(document{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for doc, want := range map[string]string{
		`{"new":1}`:                                  `schema: missing`,
		`{"schema":1,"schema":1}`:                    `schema: twice in one object`,
		`{"schema":1,"new":{"a":1,"a":1}}`:           `new.a: twice in one object`,
		`{"schema":1,"new":[0.1000000000000000055]}`: `new[0]: 0.1000000000000000055 is more than a float64 holds, use a decimal string`,
	} {
		if err := intent.DecodeOpen([]byte(doc), new(document)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", doc, err, want)
		}
	}
}

// A type that cannot be decoded is the program's fault and told apart from the
// document's.
func TestDecodeStrictIntoNonsense(t *testing.T) {
	t.Parallel()
	type untagged struct{ Name string }
	type embedded struct {
		document
	}
	for name, into := range map[string]any{
		"no pointer":        document{},
		"nil":               (*document)(nil),
		"a channel":         new(chan int),
		"a float":           new(float64),
		"a field, no tag":   new(untagged),
		"an embedded field": new(embedded),
		"keys not strings":  new(map[int]string),
		"a real interface":  new(error),
	} {
		err := intent.DecodeStrict([]byte(`{"Name":1}`), into)
		var refusal *intent.DecodeError
		if err == nil || errors.As(err, &refusal) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
