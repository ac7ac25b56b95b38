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

// settings are what a configuration file says, by the name of the flag.
type settings map[string]any

// loadConfig reads a YAML file. The nesting of its keys follows the dashes of the
// flags: {tls: {cert: FILE}} is --tls-cert.
func loadConfig(r io.Reader) (kong.Resolver, error) {
	var tree map[string]any
	d := yaml.NewDecoder(r)
	if err := d.Decode(&tree); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if err := d.Decode(new(any)); !errors.Is(err, io.EOF) {
		return nil, errors.New("configuration file: more than one document")
	}
	s := settings{}
	s.add("", tree)
	return s, nil
}

func (s settings) add(prefix string, tree map[string]any) {
	for key, value := range tree {
		name := prefix + strings.ReplaceAll(key, "_", "-")
		if below, ok := value.(map[string]any); ok {
			s.add(name+"-", below)
			continue
		}
		s[name] = value
	}
}

// Validate refuses keys that no flag of the command has.
func (s settings) Validate(app *kong.Application) error {
	known := map[string]bool{}
	for _, command := range app.Children {
		if command.Name == "serve" {
			for _, f := range command.Flags {
				known[f.Name] = true
			}
		}
	}
	var unknown []string
	for name := range s {
		if !known[name] {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	return fmt.Errorf("configuration file: unknown settings: %s", strings.Join(unknown, ", "))
}

// Resolve returns the file's value of a flag, unless the environment has one.
func (s settings) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	value, ok := s[flag.Name]
	if !ok {
		return nil, nil //nolint:nilnil // kong's way to say that there is none
	}
	for _, name := range flag.Envs {
		if environment(name) {
			return nil, nil //nolint:nilnil // as above
		}
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
