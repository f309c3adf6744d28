"""The Python client's informers, watches and dynamic client against any API server.

Run by hand (see README.md in this folder); ends with 1 and says why upon anything missed.
"""

import argparse
import logging
import sys
import threading
import time

from kubernetes import client, config, dynamic, watch
from kubernetes.client.exceptions import ApiException
from kubernetes.informer import ADDED, DELETED, ERROR, MODIFIED, SharedInformer

OBJECTS = 10
UPDATES = 4


class Failed(Exception):
    """Something was not seen as it must be."""


def until(what, condition, seconds=30):
    """Waits for a condition, which the informer's own thread brings about."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Failed(f"{what} did not happen within {seconds} s")
        time.sleep(0.02)


def named(number, labels=None):
    return {"metadata": {"name": f"object-{number:03}", "labels": {"step": "0", **(labels or {})}}}


class Record:
    """What an informer told, by object and kind of event."""

    def __init__(self, informer):
        self.lock = threading.Lock()
        self.told = {}
        self.errors = []
        for kind in (ADDED, MODIFIED, DELETED):
            informer.add_event_handler(kind, lambda seen, kind=kind: self.note(kind, seen))
        informer.add_event_handler(ERROR, self.errors.append)

    def note(self, kind, seen):
        with self.lock:
            lines = self.told.setdefault(seen.metadata.name, [])
            lines.append((kind, (seen.metadata.labels or {}).get("step")))

    def of(self, kind):
        with self.lock:
            return {name: [step for one, step in lines if one == kind] for name, lines in self.told.items()
                    if name.startswith("object-")}


def informers(core, namespace):
    """Every change is seen once and in order, before and after a resync."""
    for number in range(OBJECTS // 2):
        core.create_namespaced_config_map(namespace, named(number))
    informer = SharedInformer(core.list_namespaced_config_map, namespace=namespace)
    record = Record(informer)
    informer.start()
    until("the first list", lambda: len(record.of(ADDED)) == OBJECTS // 2)
    for number in range(OBJECTS // 2, OBJECTS):
        core.create_namespaced_config_map(namespace, named(number))
    for step in range(1, UPDATES + 1):
        for number in range(OBJECTS):
            core.patch_namespaced_config_map(
                f"object-{number:03}", namespace, {"metadata": {"labels": {"step": str(step)}}})
    wanted = [str(step) for step in range(1, UPDATES + 1)]
    until("every update", lambda: all(seen == wanted for seen in record.of(MODIFIED).values())
          and len(record.of(MODIFIED)) == OBJECTS)
    for number in range(OBJECTS):
        core.delete_namespaced_config_map(f"object-{number:03}", namespace)
    until("every delete", lambda: all(len(seen) == 1 for seen in record.of(DELETED).values())
          and len(record.of(DELETED)) == OBJECTS)
    # Stopping cuts the informer's own watch, which it takes for an error.
    errors = list(record.errors)
    informer.stop()
    for name, added in record.of(ADDED).items():
        if added != ["0"]:
            raise Failed(f"{name} was added {len(added)} times")
    if errors:
        raise Failed(f"the informer told of errors: {errors}")
    left = [one.metadata.name for one in informer.cache.list() if one.metadata.name.startswith("object-")]
    if left:
        raise Failed(f"still cached: {left}")


def resync(core, namespace):
    """An informer with a resync period tells of what did not change, again and again."""
    core.create_namespaced_config_map(namespace, named(900))
    informer = SharedInformer(core.list_namespaced_config_map, namespace=namespace, resync_period=1)
    record = Record(informer)
    informer.start()
    until("two resyncs", lambda: len(record.of(MODIFIED).get("object-900", [])) >= 2)
    informer.stop()


def watching(core, namespace):
    """A watch from a version tells what came after it, ends in time, and an old version is 410."""
    listed = core.list_namespaced_config_map(namespace)
    version = listed.metadata.resource_version
    core.create_namespaced_config_map(namespace, named(901))
    core.delete_namespaced_config_map("object-901", namespace)
    events = [(event["type"], event["object"].metadata.name)
              for event in watch.Watch().stream(core.list_namespaced_config_map, namespace,
                                                resource_version=version, timeout_seconds=2)]
    if events != [("ADDED", "object-901"), ("DELETED", "object-901")]:
        raise Failed(f"the watch told {events}")
    try:
        list(watch.Watch().stream(core.list_namespaced_config_map, namespace,
                                  resource_version="999999999", timeout_seconds=2))
    except ApiException as error:
        if error.status not in (410, 504):
            raise Failed(f"a version of the future gives {error.status}") from error


def dynamically(api, namespace):
    """The dynamic client discovers, applies on the server side, and watches."""
    maps = dynamic.DynamicClient(api).resources.get(api_version="v1", kind="ConfigMap")
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}, "data": {"a": "1"}}
    maps.server_side_apply(body=body, namespace=namespace, field_manager="python")
    body["data"]["a"] = "2"
    maps.server_side_apply(body=body, namespace=namespace, field_manager="python")
    if maps.get(name="applied", namespace=namespace).data.a != "2":
        raise Failed("server-side apply did not apply")
    first = next(iter(maps.watch(namespace=namespace, name="applied", timeout=5)))
    if first["type"] != "ADDED":
        raise Failed(f"the dynamic watch began with {first['type']}")


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--kubeconfig", required=True)
    arguments.add_argument("--namespace", default="python-trial", help="is made and deleted")
    asked = arguments.parse_args()
    logging.getLogger("kubernetes.informer").setLevel(logging.CRITICAL)
    config.load_kube_config(asked.kubeconfig)
    core, api = client.CoreV1Api(), client.ApiClient()
    core.create_namespace({"metadata": {"name": asked.namespace}})
    try:
        for name, step in (("informers", lambda: informers(core, asked.namespace)),
                           ("resync", lambda: resync(core, asked.namespace)),
                           ("watching", lambda: watching(core, asked.namespace)),
                           ("dynamic", lambda: dynamically(api, asked.namespace))):
            began = time.monotonic()
            step()
            print(f"ok   {name} ({(time.monotonic() - began) * 1000:.0f} ms)", flush=True)
    except Failed as failure:
        print(f"FAIL {failure}")
        return 1
    finally:
        core.delete_namespace(asked.namespace)
    return 0


if __name__ == "__main__":
    sys.exit(main())
