// Command informers runs client-go's shared informers (typed, dynamic and metadata) on pods, deployments and
// config maps against any API server, changes objects, and fails upon anything that an informer missed, saw twice
// or saw in another order.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

// clients are the three ways in which client-go reads, all over one gate.
type clients struct {
	typed    kubernetes.Interface
	dynamic  dynamic.Interface
	metadata metadata.Interface
	// writer does not pass the gate, so that writes go on while watches are cut.
	writer kubernetes.Interface
	gate   *gate
}

func main() {
	kubeconfig := flag.String("kubeconfig", os.Getenv("KUBECONFIG"), "how to reach the API server")
	namespace := flag.String("namespace", "informers", "a namespace that does not exist yet; it is made and deleted")
	objects := flag.Int("objects", 20, "how many objects of each kind")
	updates := flag.Int("updates", 5, "how often each object is changed")
	expire := flag.Int("expire-megabytes", 0,
		"how much to write while watches are cut, so that the server forgets where they were; 0 leaves that out")
	protobuf := flag.Bool("protobuf", false,
		"let the typed clients send protobuf and take nothing else; metadata prefer it in any case")
	limit := flag.Duration("timeout", 2*time.Minute, "how long the whole may take")
	flag.Parse()
	// Reflectors tell of every watch that was cut.
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)

	ctx, cancel := context.WithTimeout(context.Background(), *limit)
	defer cancel()
	trial := trial{namespace: *namespace, objects: *objects, updates: *updates}
	if err := run(ctx, *kubeconfig, *protobuf, &trial, *expire); err != nil {
		fmt.Fprintf(os.Stderr, "informers: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, kubeconfig string, protobuf bool, trial *trial, expire int) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	// The limits of the client are not what is examined.
	config.QPS, config.Burst = 5000, 5000
	if protobuf {
		config.ContentType = runtime.ContentTypeProtobuf
		config.AcceptContentTypes = runtime.ContentTypeProtobuf
	}
	if trial.clients, err = connect(config); err != nil {
		return err
	}
	steps := []struct {
		name string
		do   func(context.Context) error
	}{
		{"prepare", trial.prepare},
		{"synced with what was there", trial.sync},
		{"every change seen once and in order", trial.change},
		{"resynced", trial.resync},
		{"caught up after the watches were cut", func(ctx context.Context) error { return trial.cut(ctx, 0) }},
	}
	if expire > 0 {
		steps = append(steps, struct {
			name string
			do   func(context.Context) error
		}{"listed again after 410", func(ctx context.Context) error { return trial.cut(ctx, expire) }})
	}
	steps = append(steps, struct {
		name string
		do   func(context.Context) error
	}{"every delete seen once", trial.deleteAll})
	for _, step := range steps {
		began := time.Now()
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Printf("ok   %s (%d ms)\n", step.name, time.Since(began).Milliseconds())
	}
	fmt.Printf("%d informers, %d notifications, 0 missed\n", len(trial.records), trial.notifications())
	return nil
}

func connect(config *rest.Config) (*clients, error) {
	writer, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	made := &clients{writer: writer, gate: newGate()}
	gated := rest.CopyConfig(config)
	gated.Wrap(made.gate.wrap)
	if made.typed, err = kubernetes.NewForConfig(gated); err != nil {
		return nil, err
	}
	if made.dynamic, err = dynamic.NewForConfig(gated); err != nil {
		return nil, err
	}
	made.metadata, err = metadata.NewForConfig(gated)
	return made, err
}
