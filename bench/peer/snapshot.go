package main

import (
	"crypto/sha256"
	"encoding/hex"
	"io"

	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
)

// snapshot builds everything anew. The versions of a type and of each resource are digests of their bytes, as the
// cache itself makes them for delta streams.
func (w *world) snapshot() (*cache.Snapshot, error) {
	listeners, err := listeners()
	if err != nil {
		return nil, err
	}
	ofType := map[resource.Type][]types.Resource{
		resource.ClusterType:  w.clusters(),
		resource.EndpointType: w.assignments(),
		resource.ListenerType: listeners,
		resource.RouteType:    w.tables(),
	}
	s, err := cache.NewSnapshot("", ofType)
	if err != nil {
		return nil, err
	}
	if err := s.ConstructVersionMap(); err != nil {
		return nil, err
	}
	for typeURL, resources := range ofType {
		s.Resources[cache.GetResponseType(typeURL)].Version = version(resources, s.VersionMap[typeURL])
	}
	return s, nil
}

// version is a digest of the versions of a type's resources, in their order.
func version(resources []types.Resource, versions map[string]string) string {
	digest := sha256.New()
	for _, r := range resources {
		io.WriteString(digest, versions[cache.GetResourceName(r)])
	}
	return hex.EncodeToString(digest.Sum(nil))
}
