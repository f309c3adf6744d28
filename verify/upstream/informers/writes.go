package main

import (
	"context"
	"fmt"
	"strings"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const accountName = "trial"

func (t *trial) makeNamespace(ctx context.Context) error {
	core1 := t.clients.writer.CoreV1()
	named := &core.Namespace{ObjectMeta: meta.ObjectMeta{Name: t.namespace}}
	if _, err := core1.Namespaces().Create(ctx, named, meta.CreateOptions{}); err != nil {
		return err
	}
	// Pods have a service account of their own, so that it does not matter who makes the default one, and when.
	account := &core.ServiceAccount{ObjectMeta: meta.ObjectMeta{Name: accountName}}
	_, err := core1.ServiceAccounts(t.namespace).Create(ctx, account, meta.CreateOptions{})
	return err
}

func (t *trial) deleteNamespace(ctx context.Context) error {
	return t.clients.writer.CoreV1().Namespaces().Delete(ctx, t.namespace, meta.DeleteOptions{})
}

func (t *trial) named(number int) meta.ObjectMeta {
	return meta.ObjectMeta{
		Name:   fmt.Sprintf("object-%03d", number),
		Labels: map[string]string{stepLabel: "0"},
	}
}

func (t *trial) create(ctx context.Context, from, to int) error {
	writer := t.clients.writer
	for number := from; number < to; number++ {
		configMap := &core.ConfigMap{ObjectMeta: t.named(number)}
		if _, err := writer.CoreV1().ConfigMaps(t.namespace).Create(ctx, configMap, meta.CreateOptions{}); err != nil {
			return err
		}
		containers := []core.Container{{Name: "app", Image: "app:v1"}}
		// A pod that no scheduler takes stays as it is and is gone at once when deleted.
		pod := &core.Pod{
			ObjectMeta: t.named(number),
			Spec: core.PodSpec{
				SchedulerName:      "nobody",
				ServiceAccountName: accountName,
				Containers:         containers,
			},
		}
		if _, err := writer.CoreV1().Pods(t.namespace).Create(ctx, pod, meta.CreateOptions{}); err != nil {
			return err
		}
		none, app := int32(0), map[string]string{"app": "none"}
		deployment := &apps.Deployment{
			ObjectMeta: t.named(number),
			Spec: apps.DeploymentSpec{
				Replicas: &none,
				Paused:   true,
				Selector: &meta.LabelSelector{MatchLabels: app},
				Template: core.PodTemplateSpec{
					ObjectMeta: meta.ObjectMeta{Labels: app},
					Spec:       core.PodSpec{Containers: containers},
				},
			},
		}
		if _, err := writer.AppsV1().Deployments(t.namespace).Create(ctx, deployment, meta.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func (t *trial) update(ctx context.Context) error {
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:"%d"}}}`, stepLabel, t.step)
	writer, options := t.clients.writer, meta.PatchOptions{}
	for number := range t.objects {
		name := t.named(number).Name
		if _, err := writer.CoreV1().ConfigMaps(t.namespace).Patch(ctx, name, types.MergePatchType, patch, options); err != nil {
			return err
		}
		if _, err := writer.CoreV1().Pods(t.namespace).Patch(ctx, name, types.StrategicMergePatchType, patch, options); err != nil {
			return err
		}
		if _, err := writer.AppsV1().Deployments(t.namespace).Patch(ctx, name, types.MergePatchType, patch, options); err != nil {
			return err
		}
	}
	return nil
}

func (t *trial) delete(ctx context.Context) error {
	writer, options := t.clients.writer, meta.DeleteOptions{}
	for number := range t.objects {
		name := t.named(number).Name
		if err := writer.CoreV1().ConfigMaps(t.namespace).Delete(ctx, name, options); err != nil {
			return err
		}
		if err := writer.CoreV1().Pods(t.namespace).Delete(ctx, name, options); err != nil {
			return err
		}
		if err := writer.AppsV1().Deployments(t.namespace).Delete(ctx, name, options); err != nil {
			return err
		}
	}
	return nil
}

// flood rewrites one large object until the server has been given that much to remember.
func (t *trial) flood(ctx context.Context, megabytes int) error {
	configMaps := t.clients.writer.CoreV1().ConfigMaps(t.namespace)
	text := strings.Repeat("x", 1_000_000)
	large := &core.ConfigMap{ObjectMeta: meta.ObjectMeta{Name: "large"}, Data: map[string]string{"text": text}}
	if _, err := configMaps.Create(ctx, large, meta.CreateOptions{}); err != nil {
		return err
	}
	for number := range megabytes {
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"written":"%d"}}}`, number)
		_, err := configMaps.Patch(ctx, "large", types.MergePatchType, patch, meta.PatchOptions{})
		if err != nil {
			return err
		}
	}
	return configMaps.Delete(ctx, "large", meta.DeleteOptions{})
}
