//! The controller that follows load with the number of pods.

use super::{Flag, Group, flag, tuning};
use crate::options::value::Kind::{Duration, Float, Int32};

pub(super) const HORIZONTAL_POD_AUTOSCALER: &Group = &tuning(
    "Horizontal-pod-autoscaler-controller flags",
    "horizontal-pod-autoscaler-controller",
    FLAGS,
);

const FLAGS: &[Flag] = &[
    flag(
        Int32,
        "concurrent-horizontal-pod-autoscaler-syncs",
        "5",
        "HPAController.ConcurrentHorizontalPodAutoscalerSyncs",
        "HorizontalPodAutoscalers worked on at the same time.",
    ),
    flag(
        Duration,
        "horizontal-pod-autoscaler-cpu-initialization-period",
        "5m0s",
        "HPAController.HorizontalPodAutoscalerCPUInitializationPeriod",
        "How long after its start a pod's CPU samples may be left out.",
    ),
    flag(
        Duration,
        "horizontal-pod-autoscaler-downscale-stabilization",
        "5m0s",
        "HPAController.HorizontalPodAutoscalerDownscaleStabilizationWindow",
        "Never scale below the highest recommendation of this long ago until now.",
    ),
    flag(
        Duration,
        "horizontal-pod-autoscaler-initial-readiness-delay",
        "30s",
        "HPAController.HorizontalPodAutoscalerInitialReadinessDelay",
        "How long after its start a pod's becoming ready counts as the first time.",
    ),
    flag(
        Duration,
        "horizontal-pod-autoscaler-sync-period",
        "15s",
        "HPAController.HorizontalPodAutoscalerSyncPeriod",
        "How often each autoscaler is looked at.",
    ),
    flag(
        Float,
        "horizontal-pod-autoscaler-tolerance",
        "0.1",
        "HPAController.HorizontalPodAutoscalerTolerance",
        "How far a metric may be from its target, as a fraction, before anything is scaled.",
    ),
];
