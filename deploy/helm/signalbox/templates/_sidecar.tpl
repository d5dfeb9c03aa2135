{{/* signalbox's image. */}}
{{- define "signalbox.image" -}}
{{- $tag := .Values.image.tag | default (printf "%s%s" .Chart.AppVersion (ternary "-cuda" "" .Values.gpu.enabled)) -}}
{{ .Values.image.repository }}:{{ $tag }}
{{- end }}

{{/* Where the agent finds signalbox. */}}
{{- define "signalbox.target" -}}
{{- if eq .Values.transport "uds" -}}
unix:///run/signalbox/signalbox.sock
{{- else -}}
127.0.0.1:50051
{{- end -}}
{{- end }}

{{/* The native sidecar: an item of initContainers. */}}
{{- define "signalbox.container" -}}
- name: signalbox
  image: {{ include "signalbox.image" . }}
  {{- with .Values.image.pullPolicy }}
  imagePullPolicy: {{ . }}
  {{- end }}
  restartPolicy: Always
  args: [serve]
  env:
    {{- if .Values.gpu.enabled }}
    - name: SIGNALBOX_MODEL__DEVICE
      value: cuda
    {{- end }}
    {{- if eq .Values.transport "uds" }}
    - name: SIGNALBOX_SERVER__LISTEN
      value: ""
    - name: SIGNALBOX_SERVER__UDS
      value: /run/signalbox/signalbox.sock
    {{- else }}
    - name: SIGNALBOX_SERVER__LISTEN
      value: 127.0.0.1:50051
    {{- end }}
    - name: SIGNALBOX_ADMIN__LISTEN
      value: 0.0.0.0:9464
    - name: SIGNALBOX_MODEL__THREADS
      value: {{ .Values.model.threads | quote }}
    {{- with .Values.telemetry.otlpEndpoint }}
    - name: NODE_IP
      valueFrom:
        fieldRef:
          fieldPath: status.hostIP
    - name: POD_NAME
      valueFrom:
        fieldRef:
          fieldPath: metadata.name
    - name: OTEL_RESOURCE_ATTRIBUTES
      value: k8s.pod.name=$(POD_NAME),k8s.namespace.name={{ $.Release.Namespace }}
    - name: SIGNALBOX_TELEMETRY__OTLP_ENDPOINT
      value: {{ . | quote }}
    {{- end }}
    {{- with .Values.env }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  ports:
    - name: admin
      containerPort: 9464
  startupProbe:
    grpc:
      port: 9464
      service: startup
    periodSeconds: 2
    timeoutSeconds: 2
    failureThreshold: 300
  readinessProbe:
    grpc:
      port: 9464
      service: readiness
    periodSeconds: 5
    timeoutSeconds: 2
    failureThreshold: 2
  livenessProbe:
    grpc:
      port: 9464
      service: liveness
    periodSeconds: 10
    timeoutSeconds: 5
    failureThreshold: 3
  resources:
    {{- $resources := deepCopy .Values.resources }}
    {{- if .Values.gpu.enabled }}
    {{- $resources = mergeOverwrite $resources (dict "limits" (dict "nvidia.com/gpu" "1")) }}
    {{- end }}
    {{- toYaml $resources | nindent 4 }}
  securityContext:
    {{- include "signalbox.securityContext" . | nindent 4 }}
  volumeMounts:
    {{- if eq .Values.transport "uds" }}
    - name: signalbox-socket
      mountPath: /run/signalbox
    {{- end }}
    - name: signalbox-data
      mountPath: /var/lib/signalbox
    {{- if .Values.models.image }}
    - name: signalbox-models
      mountPath: /usr/share/signalbox/models
      readOnly: true
    {{- end }}
{{- end }}

{{/* What both containers may do: nothing. */}}
{{- define "signalbox.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* The volumes that the sidecar mounts. */}}
{{- define "signalbox.volumes" -}}
{{- if eq .Values.transport "uds" }}
- name: signalbox-socket
  emptyDir:
    medium: Memory
    sizeLimit: 1Mi
{{- end }}
- name: signalbox-data
  {{- if .Values.data.existingClaim }}
  persistentVolumeClaim:
    claimName: {{ .Values.data.existingClaim }}
  {{- else }}
  emptyDir:
    sizeLimit: {{ .Values.data.sizeLimit }}
  {{- end }}
{{- with .Values.models.image }}
- name: signalbox-models
  image:
    reference: {{ . }}
    pullPolicy: IfNotPresent
{{- end }}
{{- end }}
