package describe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// field is a field of a body, or a parameter.
type field struct {
	Name, Kind, Description string
	Required                bool
	// Depth is the number of objects around it.
	Depth int
}

// deepest bounds the depth of the fields that are shown: schemas may contain themselves.
const deepest = 4

// resolve follows the references of an object.
func (d document) resolve(of document) document {
	for of.text("$ref") != "" {
		path, _ := strings.CutPrefix(of.text("$ref"), "#/")
		of = d.at(strings.Split(path, "/")...)
	}
	return of
}

// list returns the objects of an array, resolved.
func (d document) list(array any) (list []document) {
	items, _ := array.([]any)
	for _, item := range items {
		if o, ok := item.(map[string]any); ok {
			list = append(list, d.resolve(o))
		}
	}
	return list
}

// fields returns the fields of a schema, those of inner objects behind their own.
func (d document) fields(schema document) []field { return d.fieldsAt(schema, 0) }

func (d document) fieldsAt(schema document, depth int) (list []field) {
	schema = d.resolve(schema)
	if schema == nil || depth > deepest {
		return nil
	}

	for _, part := range d.list(schema["allOf"]) {
		list = append(list, d.fieldsAt(part, depth)...)
	}
	for _, name := range [...]string{"oneOf", "anyOf"} {
		list = d.addVariants(list, d.list(schema[name]), depth)
	}

	properties, required := schema.at("properties"), schema.strings("required")
	names := slices.Sorted(maps.Keys(properties))
	slices.SortStableFunc(names, func(a, b string) int { return rank(required, a) - rank(required, b) })
	for _, name := range names {
		f := d.fieldOf(name, properties.at(name), slices.Contains(required, name))
		f.Depth = depth
		list = append(list, f)
		list = append(list, d.fieldsAt(d.inner(properties.at(name)), depth+1)...)
	}
	if items := schema.at("items"); items != nil {
		list = append(list, d.fieldsAt(items, depth)...)
	}
	return list
}

// addVariants adds the fields of each variant, behind a line that begins it.
func (d document) addVariants(list []field, variants []document, depth int) []field {
	for i, v := range variants {
		inner := d.fieldsAt(v, depth+1)
		if len(inner) == 0 {
			continue
		}
		list = append(list, field{Name: fmt.Sprintf("form %d of %d", i+1, len(variants)), Description: v.text("description"), Depth: depth})
		list = append(list, inner...)
	}
	return list
}

// rank sorts required fields first, in the order of their list.
func rank(required []string, name string) int {
	if at := slices.Index(required, name); at >= 0 {
		return at
	}
	return len(required)
}

// inner returns the schema of the objects in a field: its own, or that of its items.
func (d document) inner(schema document) document {
	schema = d.resolve(schema)
	for schema.at("items") != nil {
		schema = d.resolve(schema.at("items"))
	}
	if schema.at("properties") == nil && schema["oneOf"] == nil && schema["anyOf"] == nil && schema["allOf"] == nil {
		if more := schema.at("additionalProperties"); more != nil {
			return more
		}
		return nil
	}
	return schema
}

// fieldOf describes a field by its schema.
func (d document) fieldOf(name string, schema document, required bool) field {
	resolved := d.resolve(schema)
	f := field{Name: name, Required: required, Kind: d.kind(resolved), Description: resolved.text("description")}
	if own := schema.text("description"); own != "" {
		f.Description = own
	}
	return f
}

// kind tells a schema's type, words and bounds.
func (d document) kind(schema document) string {
	if value, ok := schema["const"]; ok {
		return plain(value)
	}
	if words, ok := schema["enum"].([]any); ok {
		texts := make([]string, len(words))
		for i := range words {
			texts[i] = plain(words[i])
		}
		return strings.Join(texts, " | ")
	}

	kind := strings.Join(schema.strings("type"), " or ")
	if kind == "" {
		kind = schema.text("type")
	}
	if items := schema.at("items"); items != nil {
		kind = strings.TrimSpace("array of " + d.kind(d.resolve(items)))
	}
	for _, bound := range [...]string{"pattern", "format", "default", "minimum", "maximum", "minLength", "maxLength", "maxItems"} {
		if value, ok := schema[bound]; ok {
			kind += ", " + bound + " " + plain(value)
		}
	}
	return strings.TrimPrefix(kind, ", ")
}

// strings returns the texts of an array.
func (d document) strings(name string) (list []string) {
	items, _ := d[name].([]any)
	for _, item := range items {
		list = append(list, plain(item))
	}
	return list
}

// plain writes a value of a schema: a text as it is, another value as JSON.
func plain(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	text, err := compact(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return text
}

// samples returns the examples of a content, by name.
func (d document) samples(content document) (list []sample, err error) {
	if value, ok := content["example"]; ok {
		text, err := compact(value)
		return []sample{{"", text}}, err
	}
	for _, name := range slices.Sorted(maps.Keys(content.at("examples"))) {
		text, err := compact(d.resolve(content.at("examples", name))["value"])
		if err != nil {
			return nil, err
		}
		list = append(list, sample{name, text})
	}
	return list, nil
}

// compact writes a value as JSON in one line.
func compact(value any) (string, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return strings.TrimSpace(out.String()), err
}
