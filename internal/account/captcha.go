package account

import (
	"bytes"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math/rand/v2"
	"sync"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/seal"
)

// captchaFor bounds the time to answer a picture.
const captchaFor = 10 * bourse.Minute

// Captcha is a picture of digits for a sign-up. It slows programs down; only the
// confirmation of the address stops them.
type Captcha struct {
	// Challenge is the answer and its expiry, sealed for one e-mail address. The server
	// keeps no state for an unanswered picture.
	Challenge string
	PNG       []byte
}

// NewCaptcha draws a picture for an address, also while captchas are off: clients show it
// in any case. The errors are *bourse.Errors with CodeInvalid and CodeBusy.
func (s *Service) NewCaptcha(email string, v Visit) (c Captcha, err error) {
	if email, err = NormalizeEmail(email); err != nil {
		return c, err
	}
	if err := s.spend(spending{captchasDrawn, v.source().String()}); err != nil {
		return c, err
	}

	text, err := newCode(s.Random)
	if err != nil {
		return c, err
	}
	var seed [32]byte
	if _, err := io.ReadFull(s.Random, seed[:]); err != nil {
		return c, fmt.Errorf("drawing a picture: %w", err)
	}
	if c.Challenge, err = s.sealCaptcha(email, text); err != nil {
		return c, err
	}
	c.PNG, err = draw(text, rand.New(rand.NewChaCha8(seed))) //nolint:gosec // ChaCha8, seeded by chance, and about pixels only
	return c, err
}

// sealCaptcha returns the challenge of an answer, in hex: the nonce, then the sealed
// expiry and answer.
func (s *Service) sealCaptcha(email, answer string) (string, error) {
	text := binary.LittleEndian.AppendUint64(nil, uint64(s.now()+captchaFor))
	sealed, err := s.captchaKey().Seal(s.Random, []byte(email), append(text, answer...))
	return hex.EncodeToString(sealed), err
}

// checkCaptcha checks an answer. A challenge takes one answer, right or wrong. Any answer
// passes while captchas are off.
func (s *Service) checkCaptcha(email, challenge, response string, v Visit) error {
	if !s.Captcha {
		return nil
	}
	answer, ok := s.openCaptcha(email, challenge)
	if err := s.spend(spending{captchasTried, v.source().String()}); err != nil {
		return err
	}
	if !ok || !s.shared.Take(captchasUsed, challenge, s.now()) ||
		subtle.ConstantTimeCompare([]byte(answer), []byte(response)) != 1 {
		return ErrVerification
	}
	return nil
}

// openCaptcha returns the answer of a challenge for an address; false if it is forged or
// expired.
func (s *Service) openCaptcha(email, challenge string) (string, bool) {
	sealed, err := hex.DecodeString(challenge)
	if err != nil || hex.EncodeToString(sealed) != challenge {
		return "", false
	}
	text, err := s.captchaKey().Open([]byte(email), sealed)
	if err != nil || len(text) != 8+codeDigits || s.now() >= bourse.Time(binary.LittleEndian.Uint64(text)) {
		return "", false
	}
	return string(text[8:]), true
}

func (s *Service) captchaKey() seal.Key { return s.Seal.Derive("captcha") }

// key derives the key of one use from Seal.
func (s *Service) key(use string) []byte {
	derived := s.Seal.Derive(use)
	return derived[:]
}

// The picture's measures, in pixels.
const (
	digitWidth, digitHeight = 24, 44
	cellWidth               = 40
	pictureHeight           = 72
	stroke                  = 5
)

// segments are the drawn strokes of each digit: top, upper left, upper right, middle,
// lower left, lower right, bottom.
var segments = [10]string{
	"1110111", "0010010", "1011101", "1011011", "0111010", "1101011", "1101111", "1010010", "1111111", "1111011",
}

// draw draws slanted digits with noise.
func draw(text string, chance *rand.Rand) ([]byte, error) {
	img := image.NewPaletted(image.Rect(0, 0, cellWidth*len(text)+cellWidth/2, pictureHeight),
		color.Palette{color.White, color.Gray{0x30}, color.Gray{0x90}})
	for i := range len(text) {
		at := image.Pt(i*cellWidth+cellWidth/4+chance.IntN(12), 6+chance.IntN(pictureHeight-digitHeight-12))
		drawDigit(img, text[i]-'0', at, chance.IntN(21)-10)
	}
	size := img.Bounds().Size()
	for range 6 {
		x, y, slope := 0, chance.IntN(size.Y*16), chance.IntN(17)-8
		for ; x < size.X; x++ {
			img.SetColorIndex(x, (y+slope*x)/16, uint8(1+chance.IntN(2)))
		}
	}
	for range size.X * size.Y / 20 {
		img.SetColorIndex(chance.IntN(size.X), chance.IntN(size.Y), uint8(chance.IntN(3)))
	}
	var b bytes.Buffer
	err := pictures.Encode(&b, img)
	return b.Bytes(), err
}

// pictures encodes without compression: strangers ask for pictures, noise compresses
// badly, and the compressor takes eight times the time and 800 KB of garbage.
var pictures = png.Encoder{CompressionLevel: png.NoCompression, BufferPool: new(buffers)}

// buffers reuses the buffers of the encoder.
type buffers struct{ pool sync.Pool }

// Get returns a buffer, or nil if there is none.
func (b *buffers) Get() *png.EncoderBuffer {
	e, _ := b.pool.Get().(*png.EncoderBuffer)
	return e
}

// Put returns a buffer to the pool.
func (b *buffers) Put(e *png.EncoderBuffer) { b.pool.Put(e) }

func drawDigit(img *image.Paletted, digit byte, at image.Point, lean int) {
	const half = digitHeight / 2
	bars := [7]image.Rectangle{
		image.Rect(0, 0, digitWidth, stroke),
		image.Rect(0, 0, stroke, half), image.Rect(digitWidth-stroke, 0, digitWidth, half),
		image.Rect(0, half-stroke/2, digitWidth, half+stroke/2+1),
		image.Rect(0, half, stroke, digitHeight), image.Rect(digitWidth-stroke, half, digitWidth, digitHeight),
		image.Rect(0, digitHeight-stroke, digitWidth, digitHeight),
	}
	for i, bar := range bars {
		if segments[digit][i] == '0' {
			continue
		}
		for y := bar.Min.Y; y < bar.Max.Y; y++ {
			for x := bar.Min.X; x < bar.Max.X; x++ {
				img.SetColorIndex(at.X+x+(half-y)*lean/half, at.Y+y, 1)
			}
		}
	}
}
