package outside

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Get returns the body of a page; any status but 200 is an error.
func Get(client *http.Client, url string) ([]byte, error) {
	res, err := client.Get(url)
	if err != nil {
		return nil, err
	}
	return body(res)
}

// Post sends a JSON text and returns the body of the answer; any status but 200 is an
// error.
func Post(client *http.Client, url string, text []byte) ([]byte, error) {
	res, err := client.Post(url, "application/json", bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return body(res)
}

func body(res *http.Response) ([]byte, error) {
	body, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s: %s", res.Request.URL.Path, res.Status, body)
	}
	return body, nil
}

// Failures returns the series of a page of metrics that count answers with status 500.
func Failures(metrics string) (series []string) {
	for line := range strings.Lines(metrics) {
		if strings.HasPrefix(line, "bourse_request_duration_seconds_count") && strings.Contains(line, `status="500"`) {
			series = append(series, strings.TrimSpace(line))
		}
	}
	return series
}
