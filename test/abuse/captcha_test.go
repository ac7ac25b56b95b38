package abuse

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// signUp requests captchas until it reads one correctly, and signs up.
func signUp(client *http.Client, address, email, password string) (a answer, err error) {
	base := "http://" + address + "/account/v2/signup"
	for range 3 {
		a, err = request(client, http.MethodGet, base+"/captcha?email="+url.QueryEscape(email), "", "", nil)
		if err != nil || !a.taken() {
			return a, err
		}
		var picture struct{ Challenge, Img string }
		if err := json.Unmarshal(a.body, &picture); err != nil {
			return a, err
		}
		read, err := readCaptcha(picture.Img)
		if err != nil {
			return a, err
		}
		body, _ := json.Marshal(fields{"email": email, "password": password, "captchaChallenge": picture.Challenge, "captchaResponse": read})
		a, err = request(client, http.MethodPost, base, string(body), "", nil)
		if err != nil || a.status != http.StatusUnauthorized {
			return a, err
		}
	}
	return a, err
}

// Dimensions of a captcha, in pixels.
const (
	cellWidth, digitWidth, digitHeight = 40, 24, 44
	half, stroke                       = digitHeight / 2, 5
)

// bars are the seven strokes of a digit and the space around it; digits are the strokes
// of each digit.
var (
	bars = [9]image.Rectangle{
		image.Rect(0, 0, digitWidth, stroke), image.Rect(0, 0, stroke, half), image.Rect(digitWidth-stroke, 0, digitWidth, half),
		image.Rect(0, half-stroke/2, digitWidth, half+stroke/2+1),
		image.Rect(0, half, stroke, digitHeight), image.Rect(digitWidth-stroke, half, digitWidth, digitHeight),
		image.Rect(0, digitHeight-stroke, digitWidth, digitHeight),
		image.Rect(0, -stroke, digitWidth, 0), image.Rect(0, digitHeight, digitWidth, digitHeight+stroke),
	}
	digits = [10]string{
		"111011100", "001001000", "101110100", "101101100", "011101000",
		"110101100", "110111100", "101001000", "111111100", "111101100",
	}
)

// readCaptcha reads the digits of a captcha as a human would.
func readCaptcha(img string) (string, error) {
	text, ok := strings.CutPrefix(img, "data:image/png;base64,")
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || !ok {
		return "", fmt.Errorf("%.40s is no picture: %w", img, err)
	}
	decoded, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		return "", err
	}
	picture, ok := decoded.(*image.Paletted)
	if !ok {
		return "", fmt.Errorf("a picture of type %T", decoded)
	}

	var out []byte
	for i := range picture.Bounds().Dx() / cellWidth {
		out = append(out, readDigit(picture, i*cellWidth))
	}
	return string(out), nil
}

// readDigit tries each place and slant of a digit coarsely, the best ones closely, and
// returns the digit whose strokes match best.
func readDigit(picture *image.Paletted, left int) (best byte) {
	type place struct {
		x, y, lean int
		score      float64
	}
	var places []place
	most := -9.0
	for x := left + cellWidth/4; x < left+cellWidth/4+12; x++ {
		for y := 6; y < 6+picture.Bounds().Dy()-digitHeight-12; y++ {
			for lean := -10; lean <= 10; lean += 2 {
				_, score := agree(picture, x, y, lean, 4)
				most = max(most, score)
				places = append(places, place{x, y, lean, score})
			}
		}
	}

	near := most - 0.7
	most = -9
	for _, p := range places {
		if p.score < near {
			continue
		}
		if digit, score := agree(picture, p.x, p.y, p.lean, 1); score > most {
			best, most = digit, score
		}
	}
	return best
}

// agree returns the digit whose strokes match best at one place, from every every-th
// pixel.
func agree(picture *image.Paletted, left, top, lean, every int) (digit byte, most float64) {
	var ink [len(bars)]float64
	for i, bar := range bars {
		dark, all := 0, 0
		for y := bar.Min.Y + every/2; y < bar.Max.Y; y += every {
			row := left + (half-y)*lean/half
			for x := bar.Min.X + every/2; x < bar.Max.X; x += every {
				if isDark(picture, row+x, top+y) {
					dark++
				}
				all++
			}
		}
		ink[i] = 2*float64(dark)/float64(all) - 1
	}

	most = -9
	for d, strokes := range digits {
		score := 0.0
		for i := range ink {
			if strokes[i] == '1' {
				score += ink[i]
			} else {
				score -= ink[i]
			}
		}
		if score > most {
			digit, most = '0'+byte(d), score
		}
	}
	return digit, most
}

func isDark(picture *image.Paletted, x, y int) bool {
	return y >= 0 && y < picture.Rect.Max.Y && x < picture.Rect.Max.X && picture.Pix[y*picture.Stride+x] == 1
}

// TestReadCaptcha signs up with captchas of the exchange.
func TestReadCaptcha(t *testing.T) {
	x := start(t, t.TempDir())
	defer x.stop(t)
	for i := range 30 {
		client := clientFrom(newSource(peopleNetwork), true)
		a, err := signUp(client, x.address, fmt.Sprintf("reader%d@people.example", i), "correct horse")
		if err != nil || !a.taken() {
			t.Errorf("signing up: %d %s %v", a.status, a.body, err)
		}
		client.CloseIdleConnections()
	}
}
