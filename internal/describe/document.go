package describe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	apidocs "github.com/bourse-exchange/bourse/docs/api"
)

// The names of the documents.
const (
	spotFile     = "spot.yaml"
	infoFile     = "info.yaml"
	p2pFile      = "p2p.yaml"
	walletFile   = "wallet.yaml"
	account1File = "account1.yaml"
	accountFile  = "account.yaml"
	wallet2File  = "wallet2.yaml"
	webFile      = "web.yaml"
	pagesFile    = "pages.yaml"
	operatorFile = "operator.yaml"
	streamsFile  = "streams.yaml"
)

// restFiles are the documents of REST V1.
var restFiles = []string{spotFile, infoFile, p2pFile, walletFile, account1File}

// documents lists the names of all documents.
var documents = slices.Concat(restFiles, restV2Files, []string{streamsFile})

// document is a description as plain JSON values.
type document map[string]any

// loadAll reads all documents, by name.
func loadAll() (map[string]document, error) {
	docs := map[string]document{}
	for _, name := range documents {
		doc, err := load(name)
		if err != nil {
			return nil, err
		}
		docs[name] = doc
	}
	return docs, nil
}

// load reads a document. The YAML decoder refuses duplicate names.
func load(name string) (document, error) {
	text, err := fs.ReadFile(apidocs.Files, name)
	if err != nil {
		return nil, err
	}

	var parsed map[string]any
	if err := yaml.Unmarshal(text, &parsed); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}

	// Through JSON, so that numbers have the schemas' type.
	plain, err := json.Marshal(parsed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}

	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(plain))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return value.(map[string]any), nil
}

// at returns the object below a path of names, or nil.
func (d document) at(names ...string) document {
	for _, name := range names {
		next, _ := d[name].(map[string]any)
		d = next
	}
	return d
}

// text returns the string of a name, empty if there is none.
func (d document) text(name string) string {
	s, _ := d[name].(string)
	return s
}

// prefix returns the prefix of an interface's paths.
func (d document) prefix() string {
	servers, _ := d["servers"].([]any)
	if len(servers) != 1 {
		return ""
	}
	server, _ := servers[0].(map[string]any)
	return document(server).text("url")
}
