package binance

import (
	"fmt"
	"strings"
)

// Document returns the tables of docs/binance.md: for every documented endpoint, parameter and
// field, whether it is served and how it differs.
func Document() string {
	var b strings.Builder
	list := Endpoints()
	b.WriteString("| Endpoint | WebSocket | Security | Weight | State | |\n|---|---|---|---|---|---|\n")
	for i := range list {
		e := &list[i]
		fmt.Fprintf(&b, "| `%s %s` | %s | %s | %s | %s | %s |\n",
			e.Method, e.Path, code(e.WS), e.Security, e.weight(), e.State, e.Note)
	}
	for i := range list {
		if e := &list[i]; e.State != NotServed && len(e.Params)+len(e.Fields) > 0 {
			e.document(&b)
		}
	}
	return b.String()
}

// weight tells the weight.
func (e *Endpoint) weight() string {
	switch {
	case e.State == NotServed:
		return ""
	case e.Weight.Text != "":
		return e.Weight.Text
	}
	return fmt.Sprint(e.Weight.Of(new(Params)))
}

// document writes the table of an endpoint.
func (e *Endpoint) document(b *strings.Builder) {
	fmt.Fprintf(b, "\n### %s %s\n\n", e.Method, e.Path)
	if e.Note != "" {
		fmt.Fprintf(b, "%s\n\n", e.Note)
	}
	b.WriteString("| | Name | State | |\n|---|---|---|---|\n")
	for i := range e.Params {
		p := &e.Params[i]
		kind := "parameter"
		if p.Required {
			kind = "required parameter"
		}
		fmt.Fprintf(b, "| %s | `%s` | %s | %s |\n", kind, p.Name, p.State, p.Note)
	}
	for i := range e.Fields {
		f := &e.Fields[i]
		names := strings.Join(strings.Fields(f.Names), "`, `")
		fmt.Fprintf(b, "| answer | `%s` | %s | %s |\n", names, f.State, f.Note)
	}
}

// code returns a name as code, and nothing for an empty one.
func code(name string) string {
	if name == "" {
		return ""
	}
	return "`" + name + "`"
}
