package intent

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// Hooks of a struct that is decoded strictly. setDefaults runs before its
// fields are read, check after; check's error is one of the struct's own.
type (
	defaulter interface{ setDefaults() }
	checker   interface{ check() error }
)

var (
	numberType = reflect.TypeFor[json.Number]()
	textType   = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// decode reads the whole document, of at most limit bytes, into v, which must
// be addressable.
func (d *decoder) decode(limit int, v reflect.Value) error {
	if len(d.data) > limit {
		return d.fail(strconv.Itoa(len(d.data)) + " bytes, limit " + strconv.Itoa(limit))
	}
	if err := d.value(v); err != nil {
		return err
	}
	if d.space(); d.pos < len(d.data) {
		return d.fail("more data after the document, from byte " + strconv.Itoa(d.pos))
	}
	return nil
}

func (d *decoder) value(v reflect.Value) error {
	if v.Type() == numberType {
		n, err := d.exact()
		if err == nil {
			v.SetString(string(n))
		}
		return err
	}
	if v.Kind() != reflect.Pointer && v.Addr().Type().Implements(textType) {
		return d.textValue(v)
	}
	switch v.Kind() {
	case reflect.Pointer:
		if d.literal("null") {
			v.SetZero()
			return nil
		}
		elem := reflect.New(v.Type().Elem())
		if err := d.value(elem.Elem()); err != nil {
			return err
		}
		v.Set(elem)
		return nil
	case reflect.Interface:
		if v.NumMethod() > 0 {
			return unsupported(v.Type())
		}
		x, err := d.any()
		if err != nil {
			return err
		}
		if x == nil {
			v.SetZero()
		} else {
			v.Set(reflect.ValueOf(x))
		}
		return nil
	case reflect.String:
		if d.peek() != '"' {
			return d.want("a string")
		}
		s, err := d.text()
		if err == nil {
			v.SetString(s)
		}
		return err
	case reflect.Bool:
		switch {
		case d.literal("true"):
			v.SetBool(true)
		case d.literal("false"):
			v.SetBool(false)
		default:
			return d.want("a boolean")
		}
		return nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return d.integer(v)
	case reflect.Slice:
		if v.Type() == paramsType && d.peek() == '{' {
			return d.namedParams(v)
		}
		return d.slice(v)
	case reflect.Map:
		return d.object(v)
	case reflect.Struct:
		return d.fields(v)
	}
	return unsupported(v.Type())
}

// unsupported is a mistake of the program, not of the document.
func unsupported(t reflect.Type) error {
	return fmt.Errorf("intent: no strict decoding into %s", t)
}

func (d *decoder) textValue(v reflect.Value) error {
	if d.peek() != '"' {
		return d.want("a string")
	}
	s, err := d.text()
	if err != nil {
		return err
	}
	if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(s)); err != nil {
		why := Quoted(err.Error(), MaxQuotedRunes) // may repeat what it was given
		return d.fail(Quoted(s, maxQuotedKeyRunes) + ": " + why[1:len(why)-1])
	}
	return nil
}

func (d *decoder) integer(v reflect.Value) error {
	text, err := d.number()
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n > MaxSafeInteger || n < -MaxSafeInteger || text == "-0" {
		return d.fail(text + " is no integer within ±" + strconv.Itoa(MaxSafeInteger))
	}
	if v.CanInt() {
		if v.OverflowInt(n) {
			return d.fail(text + " is out of range")
		}
		v.SetInt(n)
		return nil
	}
	if n < 0 || v.OverflowUint(uint64(n)) {
		return d.fail(text + " is out of range")
	}
	v.SetUint(uint64(n))
	return nil
}

// exact consumes a number that survives being read as a float64.
func (d *decoder) exact() (json.Number, error) {
	text, err := d.number()
	if err != nil {
		return "", err
	}
	if !isExact(text) {
		return "", d.inexact(text)
	}
	return json.Number(text), nil
}

func (d *decoder) inexact(number string) error {
	return d.fail(number + " is more than a float64 holds, use a decimal string")
}

func (d *decoder) slice(v reflect.Value) error {
	if err := d.enter('[', "an array"); err != nil {
		return err
	}
	out := reflect.MakeSlice(v.Type(), 0, 0)
	for n := 0; ; n++ {
		more, err := d.next(']', n == 0)
		if err != nil {
			return err
		}
		if !more {
			v.Set(out)
			return nil
		}
		elem := reflect.New(v.Type().Elem()).Elem()
		d.push(step{index: n})
		if err := d.value(elem); err != nil {
			return err
		}
		d.pop()
		out = reflect.Append(out, elem)
	}
}

func (d *decoder) object(v reflect.Value) error {
	t := v.Type()
	if t.Key().Kind() != reflect.String {
		return unsupported(t)
	}
	if err := d.enter('{', "an object"); err != nil {
		return err
	}
	out := reflect.MakeMap(t)
	for first := true; ; first = false {
		more, err := d.next('}', first)
		if err != nil {
			return err
		}
		if !more {
			v.Set(out)
			return nil
		}
		name, err := d.key()
		if err != nil {
			return err
		}
		key := reflect.ValueOf(name).Convert(t.Key())
		d.push(step{key: name, index: -1})
		if out.MapIndex(key).IsValid() {
			return d.fail("twice in one object")
		}
		elem := reflect.New(t.Elem()).Elem()
		if err := d.value(elem); err != nil {
			return err
		}
		d.pop()
		out.SetMapIndex(key, elem)
	}
}

// any reads a free value: nil, bool, string, [json.Number], []any or
// map[string]any.
func (d *decoder) any() (any, error) {
	switch d.peek() {
	case '{':
		var m map[string]any
		err := d.object(reflect.ValueOf(&m).Elem())
		return m, err
	case '[':
		var s []any
		err := d.slice(reflect.ValueOf(&s).Elem())
		return s, err
	case '"':
		return d.text()
	case 't', 'f', 'n':
		switch {
		case d.literal("true"):
			return true, nil
		case d.literal("false"):
			return false, nil
		case d.literal("null"):
			return nil, nil
		}
		return nil, d.fail("no JSON value")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return d.exact()
	}
	return nil, d.want("a value")
}

// A spelling is one name under which a struct's field may stand.
type spelling struct {
	field int
	twin  bool // the camelCase one
}

// A layout is what the json and strict tags of a struct type say.
type layout struct {
	names    []string // by field, "" for a field that is not JSON
	required []bool
	spelled  map[string]spelling
}

var layouts sync.Map // reflect.Type → *layout

func layoutOf(t reflect.Type) (*layout, error) {
	if l, ok := layouts.Load(t); ok {
		return l.(*layout), nil
	}
	n := t.NumField()
	l := &layout{names: make([]string, n), required: make([]bool, n), spelled: make(map[string]spelling, 2*n)}
	for i := range n {
		f := t.Field(i)
		if f.Anonymous {
			return nil, fmt.Errorf("intent: no strict decoding into embedded field %s of %s", f.Name, t)
		}
		if !f.IsExported() || f.Tag.Get("json") == "-" {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			return nil, fmt.Errorf("intent: field %s of %s has no json tag", f.Name, t)
		}
		l.names[i], l.required[i] = name, f.Tag.Get("strict") == "required"
		l.spelled[name] = spelling{field: i}
		if twin := camelCase(name); twin != name {
			l.spelled[twin] = spelling{field: i, twin: true}
		}
	}
	layouts.Store(t, l)
	return l, nil
}

// A reading is what became of one field so far.
type reading struct{ spelled, twin, null bool }

func (d *decoder) fields(v reflect.Value) error {
	l, err := layoutOf(v.Type())
	if err != nil {
		return err
	}
	if h, ok := v.Addr().Interface().(defaulter); ok {
		h.setDefaults()
	}
	if err := d.enter('{', "an object"); err != nil {
		return err
	}
	read := make([]reading, len(l.names))
	for first := true; ; first = false {
		more, err := d.next('}', first)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if err := d.field(v, l, read); err != nil {
			return err
		}
	}
	for i, required := range l.required {
		if required && !read[i].spelled && !read[i].twin {
			d.push(step{key: l.names[i], index: -1})
			return d.fail("missing")
		}
	}
	if h, ok := v.Addr().Interface().(checker); ok {
		if err := h.check(); err != nil {
			return d.fail(err.Error())
		}
	}
	return nil
}

// field reads one key and its value.
func (d *decoder) field(v reflect.Value, l *layout, read []reading) error {
	name, err := d.key()
	if err != nil {
		return err
	}
	s, known := l.spelled[name]
	if !known || s.twin && !d.twins {
		if d.open {
			d.push(step{key: name, index: -1})
			_, err := d.any()
			d.pop()
			return err
		}
		return d.fail("unknown field " + Quoted(name, maxQuotedKeyRunes))
	}
	d.push(step{key: name, index: -1})
	was := read[s.field]
	if s.twin && was.twin || !s.twin && was.spelled {
		return d.fail("twice in one object")
	}
	second := was.twin || was.spelled
	target := v.Field(s.field)
	if second {
		target = reflect.New(target.Type()).Elem()
	}
	// A null for a field that may be absent is an absent field: languages
	// without optional fields write their None so.
	null := !l.required[s.field] && d.literal("null")
	if !null {
		if err := d.value(target); err != nil {
			return err
		}
	}
	if second && (null != was.null || !null && !reflect.DeepEqual(target.Interface(), v.Field(s.field).Interface())) {
		return d.fail("differs from its other spelling")
	}
	read[s.field] = reading{spelled: was.spelled || !s.twin, twin: was.twin || s.twin, null: null}
	d.pop()
	return nil
}

// camelCase turns call_data into callData.
func camelCase(snake string) string {
	out := make([]byte, 0, len(snake))
	for i := 0; i < len(snake); i++ {
		c := snake[i]
		if c == '_' && i > 0 && i+1 < len(snake) && snake[i+1] >= 'a' && snake[i+1] <= 'z' {
			i++
			c = snake[i] - 'a' + 'A'
		}
		out = append(out, c)
	}
	return string(out)
}
