package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
)

// commands are the program's commands by name.
var commands = map[string]struct {
	help string
	run  func(args []string) error
}{
	"workload": {"write a workload file and its totals", writeWorkload},
	"book":     {"run a workload through the reference book", measureBook},
	"anchor":   {"serve the trivial handler, and the raw loop of frames", serveAnchor},
	"sync":     {"measure a 4 KiB write and fdatasync", measureSync},
	"run":      {"measure the product and its anchors in turn", runAll},
}

func main() {
	if len(os.Args) < 2 || commands[os.Args[1]].run == nil {
		usage()
		os.Exit(2)
	}
	if err := commands[os.Args[1]].run(os.Args[2:]); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

func usage() {
	fmt.Fprintln(os.Stderr, "usage: bench COMMAND [FLAGS]; COMMAND --help lists its flags")
	names := make([]string, 0, len(commands))
	for name := range commands {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(os.Stderr, "  %-9s %s\n", name, commands[name].help)
	}
}

// flags parses a command's flags. Arguments are an error.
func flags(name string, args []string, define func(*flag.FlagSet)) error {
	set := flag.NewFlagSet(name, flag.ExitOnError)
	define(set)
	if err := set.Parse(args); err != nil {
		return err
	}
	if set.NArg() > 0 {
		return fmt.Errorf("%s takes no arguments, got %q", name, set.Arg(0))
	}
	return nil
}

func printJSON(v any) error { return json.NewEncoder(os.Stdout).Encode(v) }
