{{- define "billing.labels" -}}
app.kubernetes.io/name: billing-engine
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "billing.selector" -}}
app.kubernetes.io/name: billing-engine
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "billing.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "billing.environment" -}}
env:
  - name: ROLE
    value: {{ .role }}
  {{- range $name, $value := .root.Values.settings }}
  - name: {{ $name }}
    {{- /* Helm reads numbers as float64, and would write 2000000 as 2e+06. */}}
    {{- if and (kindIs "float64" $value) (eq $value (floor $value)) }}
    value: {{ int64 $value | quote }}
    {{- else }}
    value: {{ $value | quote }}
    {{- end }}
  {{- end }}
envFrom:
  - secretRef:
      name: {{ .root.Values.existingSecret }}
{{- end }}

{{- define "billing.security" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}

{{- define "billing.podSecurity" -}}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  fsGroup: 1000
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- end }}
