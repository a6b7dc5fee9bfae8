package main

import (
	"sync"

	statuspb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
)

// wire counts what goes over the open streams of the type that a change leads to.
type wire struct {
	mu      sync.Mutex
	moved   *sync.Cond
	streams int
	typeURL string
	sent    int
	acked   int
}

func newWire() *wire {
	w := &wire{}
	w.moved = sync.NewCond(&w.mu)
	return w
}

// intercept is a grpc.StreamServerInterceptor.
func (w *wire) intercept(srv any, s grpc.ServerStream, _ *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	w.count(func() { w.streams++ })
	defer w.count(func() { w.streams-- })
	return handle(srv, countedStream{s, w})
}

// expect begins to count responses of a type, and their ACKs.
func (w *wire) expect(typeURL string) {
	w.count(func() { w.typeURL, w.sent, w.acked = typeURL, 0, 0 })
}

// untilSent returns when each stream was sent one.
func (w *wire) untilSent() {
	w.until(func() bool { return w.sent >= w.streams })
}

// untilAcked returns when each stream has accepted one.
func (w *wire) untilAcked() {
	w.until(func() bool { return w.acked >= w.streams })
}

func (w *wire) count(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
	w.moved.Broadcast()
}

func (w *wire) until(holds func() bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !holds() {
		w.moved.Wait()
	}
}

// countedStream is a stream of either variant.
type countedStream struct {
	grpc.ServerStream
	wire *wire
}

func (s countedStream) SendMsg(m any) error {
	err := s.ServerStream.SendMsg(m)
	if response, ok := m.(interface{ GetTypeUrl() string }); ok && err == nil {
		s.note(response.GetTypeUrl(), &s.wire.sent)
	}
	return err
}

func (s countedStream) RecvMsg(m any) error {
	err := s.ServerStream.RecvMsg(m)
	if request, ok := m.(request); ok && err == nil && request.GetResponseNonce() != "" && request.GetErrorDetail() == nil {
		s.note(request.GetTypeUrl(), &s.wire.acked)
	}
	return err
}

// request is what the requests of both variants have.
type request interface {
	GetTypeUrl() string
	GetResponseNonce() string
	GetErrorDetail() *statuspb.Status
}

func (s countedStream) note(typeURL string, counter *int) {
	s.wire.count(func() {
		if typeURL == s.wire.typeURL {
			*counter++
		}
	})
}
