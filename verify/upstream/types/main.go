// Prints what messages of kube-apiserver tell about its Go types and no schema has.
//
// `conformance go-types` runs it with `decoded` and with `shown` and keeps what it prints in core/schema/src/go_types;
// the modules there say what the lines mean.
package main

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"unicode"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	"k8s.io/kubernetes/pkg/apis/apps"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/authentication/install"
	_ "k8s.io/kubernetes/pkg/apis/authorization/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	"k8s.io/kubernetes/pkg/apis/batch"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/events/install"
	_ "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	"k8s.io/kubernetes/pkg/apis/networking"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	"k8s.io/kubernetes/pkg/apis/policy"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	"k8s.io/kubernetes/pkg/apis/rbac"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	"k8s.io/kubernetes/pkg/apis/storage"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
)

// A field as Go's encoder sees it: those of embedded structs stand in the place of the struct.
type field struct {
	reflect.StructField
	json    string
	omitted bool
	// The embedded structs on the way to it.
	within []string
}

func fields(of reflect.Type) []field {
	var all []field
	for i := range of.NumField() {
		one := of.Field(i)
		name, options, _ := strings.Cut(one.Tag.Get("json"), ",")
		if name == "-" || !one.IsExported() {
			continue
		}
		if one.Anonymous && name == "" {
			for _, inner := range fields(one.Type) {
				inner.within = append([]string{one.Name}, inner.within...)
				all = append(all, inner)
			}
			continue
		}
		if name == "" {
			name = one.Name
		}
		omitted := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
		all = append(all, field{one, name, omitted, nil})
	}
	return all
}

// Types that write themselves, so that what they are made of shows nowhere.
var opaque = map[reflect.Type]bool{
	reflect.TypeFor[metav1.Time]():          true,
	reflect.TypeFor[metav1.MicroTime]():     true,
	reflect.TypeFor[metav1.Duration]():      true,
	reflect.TypeFor[metav1.FieldsV1]():      true,
	reflect.TypeFor[resource.Quantity]():    true,
	reflect.TypeFor[intstr.IntOrString]():   true,
	reflect.TypeFor[runtime.RawExtension](): true,
	reflect.TypeFor[apiextensionsv1.JSON](): true,
}

// What a field, an item or a value of a map is in the end.
func innermost(of reflect.Type) reflect.Type {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
		of = of.Elem()
	}
	return of
}

// Whether Go has a name for a type, or for a part of it, that its kind does not tell.
func isNamed(of reflect.Type) bool {
	switch of.Kind() {
	case reflect.Pointer:
		return isNamed(of.Elem())
	case reflect.Struct:
		return false
	case reflect.Slice:
		return of.Name() != "" || isNamed(of.Elem())
	case reflect.Map:
		return of.Name() != "" || isNamed(of.Key()) || isNamed(of.Elem())
	}
	return of.Name() != of.Kind().String()
}

// The name of a type in schemas.
func schemaName(of reflect.Type) string {
	parts := strings.Split(of.PkgPath(), "/")
	host := strings.Split(parts[0], ".")
	for i, j := 0, len(host)-1; i < j; i, j = i+1, j-1 {
		host[i], host[j] = host[j], host[i]
	}
	return strings.Join(append(host, parts[1:]...), ".") + "." + of.Name()
}

// What the lines of one table are about, by the name of the type.
type table map[string]string

// What errors of the decoder tell: the structs in which a field is declared, and Go's name for its type.
func (t table) decode(of reflect.Type) {
	if of.Kind() != reflect.Struct || opaque[of] {
		return
	}
	name := schemaName(of)
	if _, known := t[name]; known {
		return
	}
	t[name] = ""
	var line []string
	for _, one := range fields(of) {
		if slices.Contains(one.within, "TypeMeta") {
			continue
		}
		told := ""
		for _, within := range one.within {
			told += within + "/"
		}
		if isNamed(one.Type) {
			declared := one.Type
			for declared.Kind() == reflect.Pointer {
				declared = declared.Elem()
			}
			told += declared.String()
		}
		if told != "" {
			line = append(line, one.json+":"+told)
		}
		t.decode(innermost(one.Type))
	}
	t[name] = strings.Join(line, " ")
}

// What is written for a field that was not set; nothing stands for null.
func zero(one field) string {
	if one.omitted {
		return "?"
	}
	switch one.Type.Kind() {
	case reflect.Bool:
		return "=false"
	case reflect.String:
		return `=""`
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		return ""
	case reflect.Struct:
		switch {
		case one.Type == reflect.TypeFor[resource.Quantity]():
			return `="0"`
		case one.Type == reflect.TypeFor[intstr.IntOrString]():
			return "=0"
		case opaque[one.Type]:
			return ""
		}
		return "={}"
	}
	return "=0"
}

// Types that messages show as the server itself has them, each with that of the API.
var shown = [][2]reflect.Type{
	pair[appsv1.DaemonSetUpdateStrategy, apps.DaemonSetUpdateStrategy](),
	pair[appsv1.DeploymentStrategy, apps.DeploymentStrategy](),
	pair[appsv1.StatefulSetUpdateStrategy, apps.StatefulSetUpdateStrategy](),
	pair[batchv1.PodFailurePolicy, batch.PodFailurePolicy](),
	pair[batchv1.SuccessPolicy, batch.SuccessPolicy](),
	pair[corev1.EventSource, core.EventSource](),
	pair[corev1.HostIP, core.HostIP](),
	pair[corev1.NodeAddress, core.NodeAddress](),
	pair[corev1.ObjectReference, core.ObjectReference](),
	pair[corev1.PodIP, core.PodIP](),
	pair[corev1.PodTemplateSpec, core.PodTemplateSpec](),
	pair[corev1.ServicePort, core.ServicePort](),
	pair[corev1.Taint, core.Taint](),
	pair[corev1.VolumeNodeAffinity, core.VolumeNodeAffinity](),
	pair[metav1.ObjectMeta, metav1.ObjectMeta](),
	pair[networkingv1.ParentReference, networking.ParentReference](),
	pair[networkingv1.ServiceCIDRSpec, networking.ServiceCIDRSpec](),
	pair[policyv1.PodDisruptionBudgetSpec, policy.PodDisruptionBudgetSpec](),
	pair[rbacv1.RoleRef, rbac.RoleRef](),
	pair[storagev1.CSINodeDriver, storage.CSINodeDriver](),
	pair[storagev1.VolumeAttachmentSpec, storage.VolumeAttachmentSpec](),
}

func pair[Api, Own any]() [2]reflect.Type {
	return [2]reflect.Type{reflect.TypeFor[Api](), reflect.TypeFor[Own]()}
}

// How the encoder writes a type of the server's own: its fields with where the API has them, and what stands for nothing.
func (t table) show(api, own reflect.Type) {
	if own.Kind() != reflect.Struct || api.Kind() != reflect.Struct || opaque[own] {
		return
	}
	name := schemaName(api)
	if _, known := t[name]; known {
		return
	}
	t[name] = ""
	// Fields of the API by their names in Go. The metadata of a template are embedded in the server's own type.
	from := map[string]field{}
	for _, one := range fields(api) {
		from[one.Name] = one
		if one.Type == reflect.TypeFor[metav1.ObjectMeta]() {
			for _, inner := range fields(one.Type) {
				inner.json = one.json + "." + inner.json
				from[one.Name+"/"+inner.Name] = inner
			}
		}
	}
	var line []string
	for _, one := range fields(own) {
		found, has := from[strings.Join(append(one.within, one.Name), "/")]
		if !has {
			found, has = from[one.Name]
		}
		written := one.json
		if has {
			if found.json != lowered(one.json) {
				written += ":" + found.json
			}
			t.show(innermost(found.Type), innermost(one.Type))
		}
		line = append(line, written+zero(one))
	}
	t[name] = strings.Join(line, " ")
}

func lowered(name string) string {
	letters := []rune(name)
	letters[0] = unicode.ToLower(letters[0])
	return string(letters)
}

func main() {
	t := table{}
	switch strings.Join(os.Args[1:], " ") {
	case "decoded":
		for kind, of := range legacyscheme.Scheme.AllKnownTypes() {
			if !strings.ContainsAny(strings.TrimLeft(kind.Version, "v"), "abcdefghijklmnopqrstuvwxyz_") {
				t.decode(of)
			}
		}
		t.decode(reflect.TypeFor[apiextensionsv1.CustomResourceDefinition]())
		t.decode(reflect.TypeFor[apiregistrationv1.APIService]())
	case "shown":
		for _, one := range shown {
			t.show(one[0], one[1])
		}
	default:
		fmt.Fprintln(os.Stderr, "takes one word: decoded or shown")
		os.Exit(2)
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if t[name] != "" {
			fmt.Fprintln(out, name, t[name])
		}
	}
}
