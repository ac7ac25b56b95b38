package coding

import (
	"bytes"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/bourse-exchange/bourse"
)

// window bounds the memory of a zstd worker, and of its reader. Repetitions in larger bodies
// lie closer together.
const window = 128 << 10

// Encoder compresses bodies with a fixed number of workers. Safe for concurrent use. A nil
// Encoder chooses Identity.
type Encoder struct{ workers chan *worker }

// worker compresses one body at a time, at the fastest level.
type worker struct {
	gzip *gzip.Writer
	zstd *zstd.Encoder
	out  bytes.Buffer
}

// NewEncoder returns an encoder that compresses at most n bodies at once.
func NewEncoder(n int) *Encoder {
	e := &Encoder{workers: make(chan *worker, n)}
	for range n {
		e.workers <- new(worker)
	}
	return e
}

// Encode appends a body in a coding other than Identity to dst. It waits for a worker.
func (e *Encoder) Encode(c Coding, dst, body []byte) []byte {
	w := <-e.workers
	defer func() { e.workers <- w }()
	if c == Zstd {
		return w.encodeZstd(dst, body)
	}
	return w.encodeGzip(dst, body)
}

func (w *worker) encodeGzip(dst, body []byte) []byte {
	w.out = *bytes.NewBuffer(dst)
	if w.gzip == nil {
		var err error
		if w.gzip, err = gzip.NewWriterLevel(&w.out, gzip.BestSpeed); err != nil {
			bourse.Impossible("gzip: %v", err)
		}
	} else {
		w.gzip.Reset(&w.out)
	}

	_, err := w.gzip.Write(body)
	if closed := w.gzip.Close(); err != nil || closed != nil {
		bourse.Impossible("gzip into memory: %v, %v", err, closed)
	}
	encoded := w.out.Bytes()
	w.out = bytes.Buffer{}
	return encoded
}

func (w *worker) encodeZstd(dst, body []byte) []byte {
	if w.zstd == nil {
		var err error
		w.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
			zstd.WithWindowSize(window), zstd.WithLowerEncoderMem(true))
		if err != nil {
			bourse.Impossible("zstd: %v", err)
		}
	}
	return w.zstd.EncodeAll(body, dst)
}
