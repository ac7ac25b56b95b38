package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"
)

// settings maps flag names to the values of a configuration file.
type settings map[string]any

// configFile is a parsed configuration file.
type configFile struct {
	settings
	// lines maps flag names to the lines of their settings.
	lines map[string]int
}

// load reads a YAML file. The nesting of its keys follows the dashes of the flags: {tls:
// {cert: FILE}} is --tls-cert.
func (f *configFile) load(r io.Reader) (kong.Resolver, error) {
	var root yaml.Node
	d := yaml.NewDecoder(r)
	if err := d.Decode(&root); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("configuration file: %w", err)
	}
	if err := d.Decode(new(any)); !errors.Is(err, io.EOF) {
		return nil, errors.New("configuration file: more than one document")
	}
	var tree map[string]any
	if err := root.Decode(&tree); err != nil && root.Kind != 0 {
		return nil, fmt.Errorf("configuration file: %w", err)
	}

	f.settings, f.lines = settings{}, map[string]int{}
	f.add("", tree)
	if len(root.Content) > 0 {
		f.find("", root.Content[0])
	}
	return f, nil
}

// find records the lines of the settings below a node.
func (f *configFile) find(prefix string, n *yaml.Node) {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		name := prefix + strings.ReplaceAll(n.Content[i].Value, "_", "-")
		f.lines[name] = n.Content[i].Line
		f.find(name+"-", n.Content[i+1])
	}
}

// locate adds the line to an error about a setting of the file, unless the command line
// sets the flag too.
func (f *configFile) locate(err error, args []string) error {
	flag, _, _ := strings.Cut(err.Error(), ":")
	line, ok := f.lines[strings.TrimPrefix(flag, "--")]
	given := slices.ContainsFunc(args, func(a string) bool { return a == flag || strings.HasPrefix(a, flag+"=") })
	if !ok || given {
		return err
	}
	return fmt.Errorf("configuration file: line %d: %w", line, err)
}

// blocks are the flags with a block of settings for a value: in a configuration file it is not split into
// flags.
var blocks = []string{brandFlag, networksFlag}

func (s settings) add(prefix string, tree map[string]any) {
	for key, value := range tree {
		name := prefix + strings.ReplaceAll(key, "_", "-")
		if below, ok := value.(map[string]any); ok && !slices.Contains(blocks, name) {
			s.add(name+"-", below)
			continue
		}
		s[name] = value
	}
}

// Validate refuses keys without a flag of serve.
func (f *configFile) Validate(app *kong.Application) error {
	known := map[string]bool{}
	for _, command := range app.Children {
		if command.Name == "serve" {
			for _, f := range command.Flags {
				known[f.Name] = true
			}
		}
	}

	var unknown []string
	for name := range f.settings {
		if !known[name] {
			unknown = append(unknown, fmt.Sprintf("line %d: %s", f.lines[name], name))
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	return fmt.Errorf("configuration file: unknown settings: %s", strings.Join(unknown, ", "))
}

// Resolve returns the file's value of a flag, unless the environment sets it.
func (s settings) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	value, ok := s[flag.Name]
	if !ok {
		return nil, nil //nolint:nilnil // kong's way to say none
	}

	for _, name := range flag.Envs {
		if environment(name) {
			return nil, nil //nolint:nilnil // as above
		}
	}

	if block, ok := value.(map[string]any); ok {
		if len(block) == 0 {
			return nil, nil //nolint:nilnil // as above
		}
		text, err := yaml.Marshal(block)
		return string(text), err
	}
	if list, ok := value.([]any); ok {
		if len(list) == 0 {
			return nil, nil //nolint:nilnil // as above
		}
		words := make([]string, len(list))
		for i, v := range list {
			words[i] = fmt.Sprint(v)
		}
		return strings.Join(words, ","), nil
	}
	return fmt.Sprint(value), nil
}
