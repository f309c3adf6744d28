package main

import (
	"fmt"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

// stepLabel carries how often an object was changed by us, so that what an informer saw can be told from what
// controllers changed.
const stepLabel = "step"

// seen is what one informer told about one object.
type seen struct {
	adds, deletes, resyncs int
	initial                bool
	steps                  []int
	version                uint64
}

// record is everything that one informer told. Its methods are the informer's handlers.
type record struct {
	name     string
	informer cache.SharedIndexInformer
	mutex    sync.Mutex
	objects  map[string]*seen
	total    int
	faults   []string
}

func (r *record) fault(format string, words ...any) {
	r.faults = append(r.faults, r.name+": "+fmt.Sprintf(format, words...))
}

func (r *record) OnAdd(object any, initial bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.total++
	name, step, version, ok := r.read(object)
	if !ok {
		return
	}
	one := r.objects[name]
	if one == nil {
		one = &seen{}
		r.objects[name] = one
	}
	one.adds++
	one.initial = initial
	one.steps = append(one.steps, step)
	one.version = version
}

func (r *record) OnUpdate(before, after any) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.total++
	_, stepBefore, versionBefore, ok := r.read(before)
	name, step, version, alsoOk := r.read(after)
	if !ok || !alsoOk {
		return
	}
	one := r.objects[name]
	switch {
	case one == nil:
		r.fault("an update of %s without an add", name)
	case version == versionBefore:
		one.resyncs++
	case versionBefore != one.version:
		r.fault("an update of %s from version %d, but %d was seen last", name, versionBefore, one.version)
	case version < versionBefore:
		r.fault("%s went back from version %d to %d", name, versionBefore, version)
	default:
		one.version = version
		if step != stepBefore {
			one.steps = append(one.steps, step)
		}
	}
}

func (r *record) OnDelete(object any) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.total++
	if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = last.Obj
	}
	name, _, _, ok := r.read(object)
	if !ok {
		return
	}
	if r.objects[name] == nil {
		r.fault("a delete of %s without an add", name)
		return
	}
	r.objects[name].deletes++
}

// read gives the name, the step and the version of an object of ours; other objects are not looked at.
func (r *record) read(object any) (name string, step int, version uint64, ours bool) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		r.fault("%T is no object: %v", object, err)
		return "", 0, 0, false
	}
	label, ours := accessor.GetLabels()[stepLabel]
	if !ours {
		return "", 0, 0, false
	}
	if step, err = strconv.Atoi(label); err != nil {
		r.fault("%s has the step %q", accessor.GetName(), label)
		return "", 0, 0, false
	}
	if version, err = strconv.ParseUint(accessor.GetResourceVersion(), 10, 64); err != nil {
		r.fault("%s has the version %q", accessor.GetName(), accessor.GetResourceVersion())
		return "", 0, 0, false
	}
	return accessor.GetName(), step, version, true
}
