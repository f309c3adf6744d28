{{- define "shop.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}
{{- define "shop.hook" -}}
apiVersion: v1
kind: Pod
metadata:
  name: {{ .name }}
  annotations:
    helm.sh/hook: {{ .hook }}
    helm.sh/hook-weight: "1"
    helm.sh/hook-delete-policy: before-hook-creation
    kubelet.flyball.dev/run-ms: "0"
    kubelet.flyball.dev/exit-code: "{{ .code }}"
spec:
  restartPolicy: Never
  containers:
  - {name: hook, image: "hook:v1"}
{{- end -}}
