package remote

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
)

// MaxFrame bounds the JSON of a frame, in bytes.
const MaxFrame = 1 << 20

// headSize is the size of the length before each frame, in bytes.
const headSize = 4

var errFrame = errors.New("the signer's peer sends what is no frame")

// readFrame reads one frame into v. A member that v does not have is an error.
func readFrame(r io.Reader, v any) error {
	var head [headSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size == 0 || size > MaxFrame {
		return fmt.Errorf("%w: %d bytes", errFrame, size)
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(r, text); err != nil {
		return err
	}
	if err := json.Unmarshal(text, v, json.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("%w: %w", errFrame, err)
	}
	return nil
}

// writeFrame writes v as one frame, in one write.
func writeFrame(w io.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(text) > MaxFrame {
		return fmt.Errorf("a frame of %d bytes", len(text))
	}
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, headSize+len(text)), uint32(len(text)))
	_, err = w.Write(append(frame, text...))
	return err
}
