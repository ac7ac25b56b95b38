package brand

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"strings"
)

// Logo is a picture, PNG or SVG.
type Logo struct {
	Body []byte
	// Extension is .png or .svg.
	Extension string
}

// The bounds of a logo: bytes, and pixels of a side. Pages show it 20 pixels high.
const (
	maxLogo   = 64 << 10
	maxPixels = 1024
)

// readLogo returns the logo in a file; none without a name.
func readLogo(name string, read func(string) ([]byte, error)) (Logo, error) {
	if name == "" {
		return Logo{}, nil
	}
	body, err := read(name)
	if err != nil {
		return Logo{}, fmt.Errorf("brand: logo: %w", err)
	}
	if len(body) > maxLogo {
		return Logo{}, fmt.Errorf("brand: logo: %s has more than %d bytes", name, maxLogo)
	}

	switch {
	case strings.HasSuffix(name, ".png"):
		config, err := png.DecodeConfig(bytes.NewReader(body))
		if err != nil || max(config.Width, config.Height) > maxPixels {
			return Logo{}, fmt.Errorf("brand: logo: %s must be a PNG of at most %d by %d pixels", name, maxPixels, maxPixels)
		}
		return Logo{body, ".png"}, nil
	case strings.HasSuffix(name, ".svg"):
		if err := checkSVG(body); err != nil {
			return Logo{}, fmt.Errorf("brand: logo: %s: %w", name, err)
		}
		return Logo{body, ".svg"}, nil
	}
	return Logo{}, fmt.Errorf("brand: logo: %s must end with .png or .svg", name)
}

// checkSVG refuses everything but a picture: scripts, pages and handlers.
func checkSVG(body []byte) error {
	d := xml.NewDecoder(bytes.NewReader(body))
	root := ""
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("it is no XML: %w", err)
		}
		element, ok := token.(xml.StartElement)
		if !ok {
			continue
		}

		if root == "" {
			root = element.Name.Local
		}
		if name := element.Name.Local; name == "script" || name == "foreignObject" {
			return fmt.Errorf("an element %s is refused", name)
		}
		for _, a := range element.Attr {
			if strings.HasPrefix(strings.ToLower(a.Name.Local), "on") {
				return fmt.Errorf("an attribute %s is refused", a.Name.Local)
			}
		}
	}
	if root != "svg" {
		return errors.New("its first element must be svg")
	}
	return nil
}
