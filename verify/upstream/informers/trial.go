package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
)

// resyncPeriod is short, so that a resync is seen within the run.
const resyncPeriod = 2 * time.Second

var resources = []schema.GroupVersionResource{
	{Version: "v1", Resource: "pods"},
	{Version: "v1", Resource: "configmaps"},
	{Group: "apps", Version: "v1", Resource: "deployments"},
}

// trial is one run: the first half of the objects is there before the informers are.
type trial struct {
	clients   *clients
	namespace string
	objects   int
	updates   int
	records   []*record
	step      int
}

func (t *trial) notifications() int {
	sum := 0
	for _, record := range t.records {
		record.mutex.Lock()
		sum += record.total
		record.mutex.Unlock()
	}
	return sum
}

func (t *trial) prepare(ctx context.Context) error {
	if err := t.makeNamespace(ctx); err != nil {
		return err
	}
	return t.create(ctx, 0, t.objects/2)
}

// sync starts all informers and checks that each added what was there, once, as part of its first list.
func (t *trial) sync(ctx context.Context) error {
	typed := informers.NewSharedInformerFactoryWithOptions(
		t.clients.typed, resyncPeriod, informers.WithNamespace(t.namespace))
	untyped := dynamicinformer.NewFilteredDynamicSharedInformerFactory(
		t.clients.dynamic, resyncPeriod, t.namespace, nil)
	meta := metadatainformer.NewFilteredSharedInformerFactory(
		t.clients.metadata, resyncPeriod, t.namespace, nil)
	var synced []cache.InformerSynced
	for _, resource := range resources {
		generic, err := typed.ForResource(resource)
		if err != nil {
			return err
		}
		for flavour, informer := range map[string]cache.SharedIndexInformer{
			"typed":    generic.Informer(),
			"dynamic":  untyped.ForResource(resource).Informer(),
			"metadata": meta.ForResource(resource).Informer(),
		} {
			record := &record{
				name:     flavour + " " + resource.Resource,
				informer: informer,
				objects:  map[string]*seen{},
			}
			handler, err := informer.AddEventHandler(record)
			if err != nil {
				return err
			}
			t.records = append(t.records, record)
			synced = append(synced, handler.HasSynced)
		}
	}
	typed.Start(ctx.Done())
	untyped.Start(ctx.Done())
	meta.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), synced...) {
		return errors.New("the informers did not sync in time")
	}
	return t.every(t.objects/2, func(one *seen) error {
		if one.adds != 1 || !one.initial || !slices.Equal(one.steps, []int{0}) {
			return fmt.Errorf("%d adds, in the first list: %v, steps %v", one.adds, one.initial, one.steps)
		}
		return nil
	})
}

// change creates the second half, changes everything several times and checks that every state was seen.
func (t *trial) change(ctx context.Context) error {
	if err := t.create(ctx, t.objects/2, t.objects); err != nil {
		return err
	}
	want := []int{0}
	for range t.updates {
		t.step++
		want = append(want, t.step)
		if err := t.update(ctx); err != nil {
			return err
		}
	}
	return t.await(ctx, t.objects, func(one *seen) error {
		if one.adds != 1 || one.deletes != 0 || !slices.Equal(one.steps, want) {
			return fmt.Errorf("%d adds, %d deletes, steps %v instead of %v",
				one.adds, one.deletes, one.steps, want)
		}
		return nil
	})
}

// resync waits for an update that changes nothing of every object.
func (t *trial) resync(ctx context.Context) error {
	return t.await(ctx, t.objects, func(one *seen) error {
		if one.resyncs == 0 {
			return errors.New("no resync")
		}
		return nil
	})
}

// cut takes the watches away, changes every object, and lets the informers find out. With megabytes the server
// has forgotten by then where the watches were, so all must list again; without, none needs to.
func (t *trial) cut(ctx context.Context, megabytes int) error {
	t.clients.gate.shut()
	t.step++
	err := t.update(ctx)
	if err == nil && megabytes > 0 {
		err = t.flood(ctx, megabytes)
	}
	t.clients.gate.lift()
	if err != nil {
		return err
	}
	err = t.await(ctx, t.objects, func(one *seen) error {
		last := one.steps[len(one.steps)-1]
		if one.adds != 1 || one.deletes != 0 || last != t.step {
			return fmt.Errorf("%d adds, %d deletes, last step %d instead of %d",
				one.adds, one.deletes, last, t.step)
		}
		return nil
	})
	if err != nil {
		return err
	}
	fresh, resumed := t.clients.gate.counted()
	switch {
	case megabytes == 0 && fresh > 0:
		return fmt.Errorf("%d informers listed again although their place was known", fresh)
	case megabytes > 0 && fresh < len(t.records):
		return fmt.Errorf("only %d of %d informers listed again (%d resumed)", fresh, len(t.records), resumed)
	}
	return nil
}

func (t *trial) deleteAll(ctx context.Context) error {
	if err := t.delete(ctx); err != nil {
		return err
	}
	err := t.await(ctx, t.objects, func(one *seen) error {
		if one.adds != 1 || one.deletes != 1 {
			return fmt.Errorf("%d adds, %d deletes", one.adds, one.deletes)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, record := range t.records {
		for _, object := range record.informer.GetStore().List() {
			if name, _, _, ours := record.read(object); ours {
				return fmt.Errorf("%s: %s is still in the cache", record.name, name)
			}
		}
	}
	return t.deleteNamespace(ctx)
}

// await asks for a condition of all objects until it holds everywhere or time is up, and then says where not.
func (t *trial) await(ctx context.Context, objects int, holds func(*seen) error) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := t.every(objects, holds)
		if err == nil || errors.Is(err, errFault) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("time is up: %w", err)
		case <-tick.C:
		}
	}
}

// errFault marks what no waiting mends.
var errFault = errors.New("a fault")

func (t *trial) every(objects int, holds func(*seen) error) error {
	for _, record := range t.records {
		if err := record.every(objects, holds); err != nil {
			return err
		}
	}
	return nil
}

func (r *record) every(objects int, holds func(*seen) error) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if len(r.faults) > 0 {
		return fmt.Errorf("%w: %v", errFault, r.faults)
	}
	if len(r.objects) != objects {
		return fmt.Errorf("%s: %d objects instead of %d", r.name, len(r.objects), objects)
	}
	for name, one := range r.objects {
		if err := holds(one); err != nil {
			return fmt.Errorf("%s: %s: %w", r.name, name, err)
		}
	}
	return nil
}
