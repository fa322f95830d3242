// Package chart draws the chart by Helm's own engine and reads what comes out strictly by Kubernetes's own
// types.
package chart

import (
	"io"
	"log"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/client-go/kubernetes/scheme"
)

const path = "../../helm/waitroom"

type values = map[string]any

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard) // Helm speaks of each link, by which the chart has the alerts and the dashboard
	if err := monitoringv1.AddToScheme(scheme.Scheme); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// draw renders the chart with values for a version of Kubernetes, and returns the files.
func draw(t *testing.T, v values, kube string) (map[string]string, error) {
	t.Helper()
	c, err := loader.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	capabilities := chartutil.DefaultCapabilities.Copy()
	version, err := chartutil.ParseKubeVersion(kube)
	if err != nil {
		t.Fatal(err)
	}
	capabilities.KubeVersion = *version
	all, err := chartutil.ToRenderValues(c, v,
		chartutil.ReleaseOptions{Name: "r", Namespace: "n", IsInstall: true}, capabilities)
	if err != nil {
		return nil, err
	}
	return engine.Engine{Strict: true}.Render(c, all)
}

// objects parses the rendered files. An unknown field or a value of a wrong type is an error.
func objects(t *testing.T, files map[string]string) map[string]runtime.Object {
	t.Helper()
	strict := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.Scheme, scheme.Scheme,
		json.SerializerOptions{Yaml: true, Strict: true})
	found := map[string]runtime.Object{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasSuffix(name, ".yaml") {
			continue
		}
		for _, text := range strings.Split(files[name], "\n---\n") {
			if strings.TrimSpace(text) == "" {
				continue
			}
			o, kind, err := strict.Decode([]byte(text), nil, nil)
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, text)
			}
			meta := o.(interface{ GetName() string })
			found[kind.Kind+"/"+meta.GetName()] = o
		}
	}
	return found
}

// everything has every switch on, and an entry in every list.
var everything = values{
	"image":            values{"repository": "images.example/waitroom", "tag": "v1.2.3"},
	"imagePullSecrets": []any{values{"name": "pull"}},
	"settings":         values{"PUBLIC_URL": "https://wait.example", "SMS_COMPLETES": false, "ROOM_LIMIT": 5000},
	"secrets":          values{"SMS_WEBHOOK_SECRET": values{"name": "sms", "key": "secret"}},
	"rooms":            values{"integration": values{"name": "마켓 연동", "lease": "90s"}, "shop:*": nil},
	"service":          values{"annotations": values{"a": "b"}},
	"ingress": values{"enabled": true, "className": "nginx", "tlsSecret": "tls",
		"annotations": values{"a": "b"}},
	"autoscaling": values{"enabled": true},
	"spread":      values{"required": true},
	"networkPolicy": values{"from": []any{values{"namespaceSelector": values{}}},
		"metricsFrom": []any{values{"podSelector": values{}}},
		"to":          []any{values{"ipBlock": values{"cidr": "10.0.0.0/8"}}}},
	"serviceMonitor": values{"enabled": true, "labels": values{"release": "p"}},
	"prometheusRule": values{"enabled": true, "labels": values{"release": "p"},
		"runbook": "https://wiki.example/runbook"},
	"dashboard": values{"enabled": true, "annotations": values{"grafana_folder": "waitroom"}},
	"ca":        values{"configMap": "own-ca"},
	"extraEnv": []any{values{"name": "GOMEMLIMIT", "value": "400MiB"},
		values{"name": "ZONE", "valueFrom": values{"fieldRef": values{"fieldPath": "metadata.name"}}}},
	"extraVolumes":      []any{values{"name": "more", "emptyDir": values{}}},
	"extraVolumeMounts": []any{values{"name": "more", "mountPath": "/more"}},
	"serviceAccount":    values{"create": true, "annotations": values{"role": "r"}},
	"labels":            values{"team": "sellers"},
	"annotations":       values{"owner": "sellers"},
	"podLabels":         values{"zone": "a"},
	"priorityClassName": "high",
	"topologySpreadConstraints": []any{values{"maxSkew": 1, "topologyKey": "zone",
		"whenUnsatisfiable": "ScheduleAnyway"}},
	"podAnnotations": values{"a": "b"},
	"tracing": values{"endpoint": "http://collector:4318", "ratio": 0.05,
		"headers": values{"name": "waitroom", "key": "otlp"}},
	"nodeSelector": values{"a": "b"},
	"tolerations":  []any{values{"key": "a", "operator": "Exists"}},
}

func drawn(t *testing.T, v values, kube string) (map[string]runtime.Object, map[string]string) {
	t.Helper()
	files, err := draw(t, v, kube)
	if err != nil {
		t.Fatal(err)
	}
	return objects(t, files), files
}

func TestKubernetesTakesWhatTheChartDraws(t *testing.T) {
	for _, kube := range []string{"v1.27.0", "v1.34.0"} {
		for name, v := range map[string]values{"as it is": {}, "everything": everything} {
			t.Run(kube+" "+name, func(t *testing.T) {
				found, files := drawn(t, v, kube)
				d := found["Deployment/r-waitroom"].(*appsv1.Deployment)
				pod := d.Spec.Template
				main := pod.Spec.Containers[0]
				for key, want := range d.Spec.Selector.MatchLabels {
					for what, labels := range map[string]map[string]string{
						"pods": pod.Labels, "service": found["Service/r-waitroom"].(*corev1.Service).Spec.Selector,
						"budget": found["PodDisruptionBudget/r-waitroom"].(*policyv1.PodDisruptionBudget).Spec.Selector.MatchLabels,
						"policy": found["NetworkPolicy/r-waitroom"].(*networkingv1.NetworkPolicy).Spec.PodSelector.MatchLabels,
					} {
						if labels[key] != want {
							t.Errorf("%s: %s is %q", what, key, labels[key])
						}
					}
				}
				if main.ReadinessProbe.HTTPGet.Path != "/readyz" || main.LivenessProbe.HTTPGet.Path != "/healthz" {
					t.Error("probes ask the wrong question")
				}
				if !*main.SecurityContext.ReadOnlyRootFilesystem || !*pod.Spec.SecurityContext.RunAsNonRoot {
					t.Error("it may write, or is root")
				}
				if links := pod.Spec.EnableServiceLinks; links == nil || *links {
					t.Error("Services make variables of its containers")
				}
				if slept := main.Lifecycle != nil; slept != (kube >= "v1.30") {
					t.Errorf("preStop: %v", main.Lifecycle)
				} else if slept && main.Lifecycle.PreStop.Sleep.Seconds != 8 {
					t.Errorf("it sleeps for %d s", main.Lifecycle.PreStop.Sleep.Seconds)
				}
				if *pod.Spec.TerminationGracePeriodSeconds != 38 {
					t.Errorf("it has %d s to end", *pod.Spec.TerminationGracePeriodSeconds)
				}
				secretsAreFiles(t, main, pod.Spec.Volumes[0])
				roomsAreMounted(t, pod, found, name == "everything")
				if hpa, on := found["HorizontalPodAutoscaler/r-waitroom"].(*autoscalingv2.HorizontalPodAutoscaler); on {
					if d.Spec.Replicas != nil {
						t.Error("the deployment and the autoscaler both say how many")
					}
					if q := hpa.Spec.Metrics[0].Pods.Target.AverageValue; q.Value() != 3000 {
						t.Errorf("sockets: %v", q)
					}
				} else if *d.Spec.Replicas != 3 {
					t.Errorf("replicas: %d", *d.Spec.Replicas)
				}
				if name == "everything" {
					fitsACluster(t, found, d)
				} else if pod.Spec.ServiceAccountName != "default" || len(files["waitroom/templates/prometheusrule.yaml"]) > 1 {
					t.Error("something is on that nobody switched on")
				}
			})
		}
	}
}

// secretsAreFiles requires that each secret is mounted at the path in its variable, and that no variable has
// a secret's value.
func secretsAreFiles(t *testing.T, c corev1.Container, v corev1.Volume) {
	t.Helper()
	var named, mounted []string
	for _, e := range c.Env {
		if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
			t.Errorf("%s is in the environment", e.Name)
		}
		if strings.HasSuffix(e.Name, "_FILE") && e.Name != "WAITROOM_ROOMS_FILE" {
			named = append(named, e.Value)
		}
	}
	for _, s := range v.Projected.Sources {
		mounted = append(mounted, c.VolumeMounts[0].MountPath+"/"+s.Secret.Items[0].Path)
	}
	slices.Sort(named)
	slices.Sort(mounted)
	if len(named) < 2 || !reflect.DeepEqual(named, mounted) {
		t.Errorf("variables name %v, mounted are %v", named, mounted)
	}
}

// roomsAreMounted requires that the rooms file is mounted at the path in its variable, and that a change of
// it replaces the pods.
func roomsAreMounted(t *testing.T, pod corev1.PodTemplateSpec, found map[string]runtime.Object, some bool) {
	t.Helper()
	main := pod.Spec.Containers[0]
	named := slices.Contains(main.Env, corev1.EnvVar{Name: "WAITROOM_ROOMS_FILE", Value: "/etc/waitroom/rooms.yaml"})
	file, drawn := found["ConfigMap/r-waitroom-rooms"].(*corev1.ConfigMap)
	if named != some || drawn != some || (pod.Annotations["waitroom/rooms"] != "") != some {
		t.Fatalf("rooms: variable %v, file %v, annotations %v", named, drawn, pod.Annotations)
	}
	if !some {
		return
	}
	if !strings.Contains(file.Data["rooms.yaml"], "name: 마켓 연동") || pod.Spec.Volumes[1].ConfigMap.Name != file.Name || main.VolumeMounts[1].MountPath != "/etc/waitroom" {
		t.Errorf("rooms: %v %v %v", file.Data, pod.Spec.Volumes[1], main.VolumeMounts)
	}
}

// fitsACluster requires that the pods' resources, probes and budgets and the monitoring are rendered as the
// values say.
func fitsACluster(t *testing.T, found map[string]runtime.Object, d *appsv1.Deployment) {
	t.Helper()
	pod := d.Spec.Template
	main := pod.Spec.Containers[0]
	for name, o := range found {
		if o.(interface{ GetLabels() map[string]string }).GetLabels()["team"] != "sellers" {
			t.Errorf("%s lacks the labels of all", name)
		}
	}
	account := found["ServiceAccount/r-waitroom"].(*corev1.ServiceAccount)
	monitor := found["ServiceMonitor/r-waitroom"].(*monitoringv1.ServiceMonitor)
	rule := found["PrometheusRule/r-waitroom"].(*monitoringv1.PrometheusRule)
	board := found["ConfigMap/r-waitroom-dashboard"].(*corev1.ConfigMap)
	metrics := found["Service/r-waitroom-metrics"].(*corev1.Service)
	spread := pod.Spec.TopologySpreadConstraints[0]
	for what, well := range map[string]bool{
		"labels and annotations": pod.Labels["zone"] == "a" && pod.Annotations["a"] == "b" && d.Annotations["owner"] == "sellers",
		"priority":               pod.Spec.PriorityClassName == "high",
		"account":                pod.Spec.ServiceAccountName == account.Name && account.Annotations["role"] == "r" && !*pod.Spec.AutomountServiceAccountToken,
		"spread":                 spread.TopologyKey == "zone" && reflect.DeepEqual(spread.LabelSelector, d.Spec.Selector),
		"volumes": slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == "more" }) &&
			slices.ContainsFunc(main.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == "/more" }),
		"environment": slices.Contains(main.Env, corev1.EnvVar{Name: "GOMEMLIMIT", Value: "400MiB"}),
		"certificate authority": slices.Contains(main.Env, corev1.EnvVar{Name: "SSL_CERT_DIR", Value: "/run/ca"}) &&
			slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.ConfigMap != nil && v.ConfigMap.Name == "own-ca" }) &&
			slices.ContainsFunc(main.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == "/run/ca" }),
		"service monitor": monitor.Spec.JobLabel == "app.kubernetes.io/name" && metrics.Labels[monitor.Spec.JobLabel] == "waitroom" && monitor.Labels["release"] == "p",
		"alerts": len(rule.Spec.Groups) > 3 && len(rule.Spec.Groups[0].Rules) > 5 && rule.Labels["release"] == "p" &&
			strings.HasPrefix(rule.Spec.Groups[0].Rules[0].Annotations["runbook_url"], "https://wiki.example/runbook#waitroom"),
		"dashboard": board.Labels["grafana_dashboard"] == "1" && strings.TrimSpace(board.Data["waitroom.json"]) == text(t, "../../grafana/waitroom.json"),
	} {
		if !well {
			t.Errorf("%s are not as the values have them", what)
		}
	}
}

func text(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

// Helm reads each number of a values file as a float, and writes a float of a million as 1e+06.
func TestLargeNumbersAreWrittenOut(t *testing.T) {
	million := float64(1e6)
	found, files := drawn(t, values{
		"settings": values{"ROOM_LIMIT": million, "RATE_LIMIT": 0.5, "PLACES_PER_IP": 3}, "rooms": values{"a": values{"limit": million}},
		"autoscaling": values{"enabled": true, "socketsPerReplica": million, "maxReplicas": million}, "disruptions": values{"maxUnavailable": million},
	}, "v1.34.0")
	env := found["Deployment/r-waitroom"].(*appsv1.Deployment).Spec.Template.Spec.Containers[0].Env
	for _, want := range []corev1.EnvVar{{Name: "WAITROOM_ROOM_LIMIT", Value: "1000000"}, {Name: "WAITROOM_RATE_LIMIT", Value: "0.5"}, {Name: "WAITROOM_PLACES_PER_IP", Value: "3"}} {
		if !slices.Contains(env, want) {
			t.Errorf("no %v in %v", want, env)
		}
	}
	for name, file := range files {
		if strings.Contains(file, "e+") {
			t.Errorf("%s has a number that is not written out:\n%s", name, file)
		}
	}
}

func TestValuesThatAreWrongAreRefused(t *testing.T) {
	for name, v := range map[string]values{
		"a misspelt value":             {"replica": 3},
		"a secret among settings":      {"settings": values{"SMS_WEBHOOK_SECRET": "whsec_x"}},
		"a secret among rooms":         {"rooms": values{"a": values{"sms_secret": "whsec_x"}}},
		"no replicas":                  {"replicas": 0},
		"an unknown secret":            {"secrets": values{"PASSWORD": values{"name": "a", "key": "b"}}},
		"a time without its unit":      {"settings": values{"MIN_DRAIN": 8}},
		"a secret without its key":     {"secrets": values{"REDIS_URL": values{"name": "a", "key": ""}}},
		"a port that is none":          {"service": values{"port": 70000}},
		"two places for one authority": {"ca": values{"configMap": "a", "secret": "b"}},
		"a volume without a name":      {"extraVolumes": []any{values{"emptyDir": values{}}}},
		"a service type that is none":  {"service": values{"type": "External"}},
	} {
		if _, err := draw(t, v, "v1.34.0"); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
