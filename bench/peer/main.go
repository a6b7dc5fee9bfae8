// A control plane as it is usually written in Go: each change rebuilds all resources, hashes them, and hands them to
// go-control-plane's SnapshotCache. The benchmarks drive it over stdin and stdout, a JSON object on each line.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"google.golang.org/grpc"
)

// change is one changed object of the world.
type change struct {
	Cmd     string
	I       int
	Address string // of changeEndpoint
	Suffix  string // of changePath
}

// command is what stands on a line: world, changeEndpoint, changePath, burst or rusage.
type command struct {
	change
	Routes   int
	Backends int
	Form     string
	Changes  []change // of burst
}

// answer stands on the line that answers a command, and names what it has cost.
type answer struct {
	usage
	Port    int     `json:"port"`
	BuildMs float64 `json:"buildMs"`
	Error   string  `json:"error,omitempty"`
}

// fleet makes one node of all Envoys of a data plane: they share a snapshot.
type fleet struct{}

func (fleet) ID(*corev3.Node) string { return "fleet" }

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	snapshots := cache.NewSnapshotCache(true, fleet{}, nil)
	port, err := serve(ctx, snapshots)
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(answer{usage: usageNow(), Port: port}); err != nil {
		return err
	}
	plane := &plane{snapshots: snapshots}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		if err := out.Encode(plane.answer(ctx, lines.Bytes())); err != nil {
			return err
		}
	}
	return lines.Err()
}

// serve serves both variants of ADS on a free port.
func serve(ctx context.Context, snapshots cache.Cache) (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	s := grpc.NewServer(grpc.MaxRecvMsgSize(1 << 26))
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(s, server.NewServer(ctx, snapshots, nil))
	go func() {
		if err := s.Serve(listener); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// A plane is the world, and the cache that it is served from.
type plane struct {
	snapshots cache.SnapshotCache
	world     *world
}

// answer does what a line says. What has changed is in the cache when it returns.
func (p *plane) answer(ctx context.Context, line []byte) answer {
	var c command
	start := time.Now()
	err := json.Unmarshal(line, &c)
	if err == nil && c.Cmd == "world" {
		p.world, err = newWorld(c.Routes, c.Form, c.Backends)
		start = time.Now()
	}
	if err == nil {
		err = p.do(ctx, c)
	}
	answer := answer{usage: usageNow(), BuildMs: float64(time.Since(start).Microseconds()) / 1000}
	if err != nil {
		answer.Error = err.Error()
	}
	return answer
}

func (p *plane) do(ctx context.Context, c command) error {
	switch c.Cmd {
	case "rusage":
		return nil
	case "world":
		return p.publish(ctx)
	case "changeEndpoint", "changePath":
		c.Changes = []change{c.change}
	case "burst":
	default:
		return fmt.Errorf("an unknown command: %q", c.Cmd)
	}
	if p.world == nil {
		return fmt.Errorf("%s comes before world", c.Cmd)
	}
	for _, one := range c.Changes {
		if err := p.world.apply(one); err != nil {
			return err
		}
	}
	return p.publish(ctx)
}

func (p *plane) publish(ctx context.Context) error {
	s, err := p.world.snapshot()
	if err != nil {
		return err
	}
	return p.snapshots.SetSnapshot(ctx, fleet{}.ID(nil), s)
}
