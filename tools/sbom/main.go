// Command sbom writes the bill of materials of a Go program, as CycloneDX JSON, from its
// build information. Equal programs give equal bytes.
package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: sbom PROGRAM")
	}
	info, err := buildinfo.ReadFile(args[0])
	if err != nil {
		return err
	}

	encoder := cdx.NewBOMEncoder(os.Stdout, cdx.BOMFileFormatJSON)
	return encoder.SetPretty(true).Encode(materials(info))
}

// materials lists the program, the standard library and all linked modules.
func materials(info *debug.BuildInfo) *cdx.BOM {
	program := component(cdx.ComponentTypeApplication, info.Main.Path, info.Main.Version)
	settings := []cdx.Property{}
	for _, s := range info.Settings {
		settings = append(settings, cdx.Property{Name: "go:build:" + s.Key, Value: s.Value})
	}
	program.Properties = &settings

	linked := []cdx.Component{component(cdx.ComponentTypeLibrary, "std", info.GoVersion)}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		c := component(cdx.ComponentTypeLibrary, m.Path, m.Version)
		// The hash from go.sum: a SHA-256 over the hashes of the module's files.
		if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:")); err == nil && len(sum) > 0 {
			c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
		}
		linked = append(linked, c)
	}

	needs := []string{}
	for i := range linked {
		needs = append(needs, linked[i].BOMRef)
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &program}
	bom.Components = &linked
	bom.Dependencies = &[]cdx.Dependency{{Ref: program.BOMRef, Dependencies: &needs}}
	return bom
}

func component(kind cdx.ComponentType, path, version string) cdx.Component {
	url := "pkg:golang/" + path + "@" + version
	return cdx.Component{BOMRef: url, Type: kind, Name: path, Version: version, PackageURL: url}
}
