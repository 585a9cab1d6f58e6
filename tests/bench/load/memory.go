package main

import (
	"sync"
	"syscall"
	"time"
)

const (
	chunkBytes   = 4 * mebibyte
	pageBytes    = 4096
	growInterval = 100 * time.Millisecond
)

// holder holds touched memory outside Go's heap, so that giving it back is at once and exact.
type holder struct {
	mutex  sync.Mutex
	chunks [][]byte
	held   int64
	// growth counts the orders; a growth in progress ends when a newer order came.
	growth int
}

func (h *holder) bytes() int64 {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.held
}

func (h *holder) set(bytes int64) error {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.growth++
	return h.resize(bytes)
}

func (h *holder) grow(bytesPerSecond, until int64) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.growth++
	order, first, start := h.growth, h.held, time.Now()
	go func() {
		for {
			time.Sleep(growInterval)
			grown := first + int64(time.Since(start).Seconds()*float64(bytesPerSecond))
			if h.follow(order, min(grown, until)) || grown >= until {
				return
			}
		}
	}()
}

// follow reports whether the growth is over because of a newer order or a refused mapping.
func (h *holder) follow(order int, bytes int64) bool {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.growth != order || h.resize(bytes) != nil
}

func (h *holder) resize(bytes int64) error {
	for h.held > bytes {
		last := len(h.chunks) - 1
		h.held -= int64(len(h.chunks[last]))
		if err := syscall.Munmap(h.chunks[last]); err != nil {
			return err
		}
		h.chunks = h.chunks[:last]
	}
	for h.held < bytes {
		chunk, err := syscall.Mmap(-1, 0, int(min(bytes-h.held, chunkBytes)),
			syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			return err
		}
		for offset := 0; offset < len(chunk); offset += pageBytes {
			chunk[offset] = 1
		}
		h.chunks = append(h.chunks, chunk)
		h.held += int64(len(chunk))
	}
	return nil
}
