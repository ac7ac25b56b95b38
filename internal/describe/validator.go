package describe

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// ErrUnknown means that a path or message is not described.
var ErrUnknown = errors.New("not described")

// Validator validates requests, answers and messages. It is immutable and safe for
// concurrent use.
type Validator struct {
	// requests and answers are by path below the host, messages by name.
	requests, answers, messages map[string]*jsonschema.Schema
	// operations are those of REST V2.
	operations []operation
}

// NewValidator reads the descriptions.
func NewValidator() (*Validator, error) {
	v := &Validator{
		requests: map[string]*jsonschema.Schema{},
		answers:  map[string]*jsonschema.Schema{},
		messages: map[string]*jsonschema.Schema{},
	}

	for _, file := range restFiles {
		if err := v.addRest(file); err != nil {
			return nil, err
		}
	}
	for _, file := range restV2Files {
		if err := v.addRestV2(file); err != nil {
			return nil, err
		}
	}
	if err := v.addStreams(); err != nil {
		return nil, err
	}

	return v, nil
}

// jsonBody is the path of a body's schema.
var jsonBody = []string{"content", "application/json", "schema"}

// open reads a document and makes a compiler for its schemas.
func open(file string) (document, *jsonschema.Compiler, error) {
	doc, err := load(file)
	if err != nil {
		return nil, nil, err
	}
	c := jsonschema.NewCompiler()
	return doc, c, c.AddResource(file, map[string]any(doc))
}

func (v *Validator) addRest(file string) error {
	doc, c, err := open(file)
	if err != nil {
		return err
	}
	for path := range doc.at("paths") {
		at, full := []string{"paths", path, "post"}, doc.prefix()+path
		if v.requests[full], err = compile(c, file, at, append([]string{"requestBody"}, jsonBody...)); err != nil {
			return err
		}
		if v.answers[full], err = compile(c, file, at, append([]string{"responses", "200"}, jsonBody...)); err != nil {
			return err
		}
	}
	return nil
}

func (v *Validator) addStreams() error {
	doc, c, err := open(streamsFile)
	if err != nil {
		return err
	}
	for name := range doc.at("components", "messages") {
		at := []string{"components", "messages", name, "payload"}
		if v.messages[name], err = compile(c, streamsFile, at, nil); err != nil {
			return err
		}
	}
	return nil
}

// escape escapes a name in a JSON pointer.
var escape = strings.NewReplacer("~", "~0", "/", "~1")

func compile(c *jsonschema.Compiler, file string, at, below []string) (*jsonschema.Schema, error) {
	var pointer strings.Builder
	for _, name := range slices.Concat(at, below) {
		pointer.WriteByte('/')
		pointer.WriteString(escape.Replace(name))
	}
	s, err := c.Compile(file + "#" + pointer.String())
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", file, pointer.String(), err)
	}
	return s, nil
}

// Paths returns the described endpoints, sorted, with their interface's prefix:
// /spot/markets.
func (v *Validator) Paths() []string { return slices.Sorted(maps.Keys(v.requests)) }

// Messages returns the names of the described stream messages, sorted: an operation's,
// resp, or a stream's without pair and resolution.
func (v *Validator) Messages() []string { return slices.Sorted(maps.Keys(v.messages)) }

// Request validates the body of a request to a path. Null counts as absent.
func (v *Validator) Request(path string, body []byte) error {
	value, err := parse(body)
	if err != nil {
		return err
	}
	if object, ok := value.(map[string]any); ok {
		maps.DeleteFunc(object, func(_ string, member any) bool { return member == nil })
	}
	return validate(v.requests, path, value)
}

// Answer validates the body of an answer with status 200.
func (v *Validator) Answer(path string, body []byte) error {
	value, err := parse(body)
	if err != nil {
		return err
	}
	return validate(v.answers, path, value)
}

// Message validates a stream message, a client's or the server's.
func (v *Validator) Message(body []byte) error {
	value, err := parse(body)
	if err != nil {
		return err
	}
	object, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("%w: the message is not an object", ErrUnknown)
	}
	return validate(v.messages, messageName(object), value)
}

// messageName returns the name of a message's description.
func messageName(m document) string {
	if _, isRequest := m["op"]; isRequest {
		return m.text("op")
	}
	if class := m.text("class"); class != "data" {
		return class
	}
	name := m.text("stream")
	if _, kind, public := strings.Cut(name, "@"); public {
		name, _, _ = strings.Cut(kind, "/")
	}
	return name
}

// parse reads one JSON value strictly: no duplicate names, valid UTF-8, nothing after it.
func parse(body []byte) (any, error) {
	d := jsontext.NewDecoder(bytes.NewReader(body))
	if _, err := d.ReadValue(); err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(body))
}

func validate(schemas map[string]*jsonschema.Schema, name string, value any) error {
	s := schemas[name]
	if s == nil {
		return fmt.Errorf("%w: %q", ErrUnknown, name)
	}
	return s.Validate(value)
}
