package main

import (
	"io"
	"net/http"
	"sync"
)

// gate lets requests through, and can cut all watches and keep new ones waiting.
type gate struct {
	mutex   sync.Mutex
	open    chan struct{}
	live    map[*stream]struct{}
	fresh   int
	resumed int
}

func newGate() *gate {
	open := make(chan struct{})
	close(open)
	return &gate{open: open, live: map[*stream]struct{}{}}
}

func (g *gate) wrap(next http.RoundTripper) http.RoundTripper {
	return tripper{gate: g, next: next}
}

// shut cuts every watch; those that are asked for afterwards wait for lift.
func (g *gate) shut() {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.open = make(chan struct{})
	for one := range g.live {
		one.cut()
	}
	g.fresh, g.resumed = 0, 0
}

func (g *gate) lift() {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	close(g.open)
}

// counted says how many reads since the last shut began anew, and how many continued a watch.
func (g *gate) counted() (fresh, resumed int) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return g.fresh, g.resumed
}

type tripper struct {
	gate *gate
	next http.RoundTripper
}

func (t tripper) RoundTrip(request *http.Request) (*http.Response, error) {
	query := request.URL.Query()
	watch := query.Get("watch") == "true" || query.Get("watch") == "1"
	anew := !watch || query.Get("sendInitialEvents") == "true"
	t.gate.mutex.Lock()
	open := t.gate.open
	if anew {
		t.gate.fresh++
	} else {
		t.gate.resumed++
	}
	t.gate.mutex.Unlock()
	if !watch {
		return t.next.RoundTrip(request)
	}
	select {
	case <-open:
	case <-request.Context().Done():
		return nil, request.Context().Err()
	}
	response, err := t.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	one := &stream{ReadCloser: response.Body, gate: t.gate}
	response.Body = one
	t.gate.mutex.Lock()
	t.gate.live[one] = struct{}{}
	t.gate.mutex.Unlock()
	return response, nil
}

// stream is the body of a watch.
type stream struct {
	io.ReadCloser
	gate *gate
	once sync.Once
	over bool
	lock sync.Mutex
}

func (s *stream) cut() {
	s.lock.Lock()
	s.over = true
	s.lock.Unlock()
	_ = s.ReadCloser.Close()
}

func (s *stream) Read(into []byte) (int, error) {
	n, err := s.ReadCloser.Read(into)
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.over {
		// What had arrived by then is lost with the connection, which ends as those do that a server ends: a
		// reflector goes on from where it was, while upon an error it would list again without need.
		return 0, io.EOF
	}
	return n, err
}

func (s *stream) Close() error {
	s.once.Do(func() {
		s.gate.mutex.Lock()
		delete(s.gate.live, s)
		s.gate.mutex.Unlock()
	})
	return s.ReadCloser.Close()
}
