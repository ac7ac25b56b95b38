package outside

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Body returns the body of a response with status 200; any other status is an error. It
// takes the results of an http.Client's methods.
func Body(res *http.Response, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
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
