package intent

import "reflect"

var paramsType = reflect.TypeFor[Params]()

// namedParams reads the object form of [Params]: {name: {type, …}}, in the order of
// the document. A name inside must be the one outside.
func (d *decoder) namedParams(v reflect.Value) error {
	if err := d.enter('{', "an object"); err != nil {
		return err
	}
	params, seen := Params{}, map[string]bool{}
	for first := true; ; first = false {
		more, err := d.next('}', first)
		if err != nil {
			return err
		}
		if !more {
			v.Set(reflect.ValueOf(params))
			return nil
		}
		name, err := d.key()
		if err != nil {
			return err
		}
		d.push(step{key: name, index: -1})
		if seen[name] {
			return d.fail("twice in one object")
		}
		seen[name] = true
		var body struct {
			Name        *string `json:"name"`
			Type        string  `json:"type" strict:"required"`
			Description string  `json:"description"`
			Source      string  `json:"source"`
			QuoteField  string  `json:"quote_field"`
			Default     any     `json:"default"`
			InSignature *bool   `json:"in_signature"`
		}
		if err := d.value(reflect.ValueOf(&body).Elem()); err != nil {
			return err
		}
		if body.Name != nil && *body.Name != name {
			return d.fail("is named " + Quoted(*body.Name, maxQuotedKeyRunes) + " inside")
		}
		d.pop()
		params = append(params, Param{
			Name: name, Type: body.Type, Description: body.Description, Source: body.Source,
			QuoteField: body.QuoteField, Default: body.Default, InSignature: body.InSignature,
		})
	}
}
