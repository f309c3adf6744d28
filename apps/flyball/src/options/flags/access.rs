//! Who may ask our HTTPS port, and for what.

use super::{Effect, Group, flag};
use crate::options::value::Kind::{Bool, Duration, Text, TextList};

pub(super) const AUTHENTICATION: &Group = &Group {
    title: "Authentication flags",
    effect: Effect::Used,
    flags: &[
        flag(
            Text,
            "authentication-kubeconfig",
            "",
            "Authentication.RemoteKubeConfigFile",
            "Kubeconfig of the server that reviews bearer tokens; without it tokens count as \
             anonymous.",
        ),
        flag(
            Bool,
            "authentication-skip-lookup",
            "false",
            "Authentication.SkipInClusterLookup",
            "Do not read missing client CAs from the cluster's extension-apiserver-authentication.",
        ),
        flag(
            Duration,
            "authentication-token-webhook-cache-ttl",
            "10s",
            "Authentication.CacheTTL",
            "How long the review of a token is remembered.",
        ),
        flag(
            Bool,
            "authentication-tolerate-lookup-failure",
            "false",
            "Authentication.TolerateInClusterLookupFailure",
            "Start even if client CAs cannot be read from the cluster; their holders are then \
             anonymous.",
        ),
        flag(
            Text,
            "client-ca-file",
            "",
            "Authentication.ClientCAFile",
            "CAs whose client certificates name a user.",
        ),
        flag(
            TextList,
            "requestheader-allowed-names",
            "",
            "Authentication.RequestHeader.AllowedNames",
            "Common names of proxies allowed to name the user in headers; empty allows each proxy \
             with a valid certificate.",
        ),
        flag(
            Text,
            "requestheader-client-ca-file",
            "",
            "Authentication.RequestHeader.ClientCAFile",
            "CAs whose client certificates belong to such proxies.",
        ),
        flag(
            TextList,
            "requestheader-extra-headers-prefix",
            "x-remote-extra-",
            "Authentication.RequestHeader.ExtraHeaderPrefixes",
            "Prefixes of headers that carry extra facts about the user.",
        ),
        flag(
            TextList,
            "requestheader-group-headers",
            "x-remote-group",
            "Authentication.RequestHeader.GroupHeaders",
            "Headers that carry the user's groups.",
        ),
        flag(
            TextList,
            "requestheader-uid-headers",
            "",
            "Authentication.RequestHeader.UIDHeaders",
            "Headers that carry the user's uid.",
        ),
        flag(
            TextList,
            "requestheader-username-headers",
            "x-remote-user",
            "Authentication.RequestHeader.UsernameHeaders",
            "Headers that carry the user's name.",
        ),
    ],
};

pub(super) const AUTHORIZATION: &Group = &Group {
    title: "Authorization flags",
    effect: Effect::Used,
    flags: &[
        flag(
            TextList,
            "authorization-always-allow-paths",
            "/healthz,/readyz,/livez",
            "Authorization.AlwaysAllowPaths",
            "Paths anybody may read; a trailing * matches every path with that prefix.",
        ),
        flag(
            Text,
            "authorization-kubeconfig",
            "",
            "Authorization.RemoteKubeConfigFile",
            "Kubeconfig of the server that reviews access; without it every other path is \
             forbidden.",
        ),
        flag(
            Duration,
            "authorization-webhook-cache-authorized-ttl",
            "10s",
            "Authorization.AllowCacheTTL",
            "How long a yes is remembered.",
        ),
        flag(
            Duration,
            "authorization-webhook-cache-unauthorized-ttl",
            "10s",
            "Authorization.DenyCacheTTL",
            "How long a no is remembered.",
        ),
    ],
};
