// What tools/generate-deploy.mjs writes into deploy/at-birth/.

const atBirth = 'edgewright-at-birth'

/** For whoever applies it. */
export const atBirthNote = `#
# An option beside deploy/, for API servers from 1.36 on: routes have the finalizer of edgewright from birth. Without it
# a control plane puts the finalizer on some milliseconds later, and a route that is deleted while it does so may vanish
# unproven: an API server reads an object that has no finalizer yet, and then deletes whatever it has become.
#
#   kubectl apply -k deploy/at-birth       # it is at work within some seconds
#   kubectl delete -k deploy/at-birth      # before edgewright uninstall: else nobody takes the finalizer off new routes
#
# For some seconds after the definition of EdgeRoute was made, or made anew, routes are refused (503: try again).
#
# It must name just those routes that a control plane serves, since nobody else takes the finalizer off again: with
# serve --data-plane change the condition, and with serve --namespace give the binding the same namespaces:
#
#   spec:
#     matchResources:
#       namespaceSelector:
#         matchExpressions:
#           - { key: kubernetes.io/metadata.name, operator: In, values: [shop, blog] }
`

/** A policy is evaluated in the API server itself: no webhook must be up for routes to be made. */
export const atBirthPolicy = ({ dataPlane, finalizer }) => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'MutatingAdmissionPolicy',
  metadata: { name: atBirth },
  spec: {
    matchConstraints: {
      resourceRules: [
        {
          apiGroups: ['net.10xdev.io'],
          apiVersions: ['v1'],
          operations: ['CREATE'],
          resources: ['edgeroutes'],
        },
      ],
    },
    // A default has been filled in by now, and what lacks a spec is refused by the schema, in better words, later on.
    matchConditions: [
      {
        name: 'of-our-data-plane',
        expression: `object.?spec.?dataPlane == optional.of(${cel(dataPlane)})`,
      },
      {
        name: 'not-there-yet',
        expression: `!(${cel(finalizer)} in object.metadata.?finalizers.orValue([]))`,
      },
    ],
    mutations: [
      {
        // The other type, ApplyConfiguration, merges: that costs more, and says no more of one entry of a list.
        patchType: 'JSONPatch',
        jsonPatch: {
          expression: `has(object.metadata.finalizers) ? [${addition('/-', cel(finalizer))}] : [${addition('', `[${cel(finalizer)}]`)}]`,
        },
      },
    ],
    // A webhook may put another list in the place of this one: then it is added anew.
    reinvocationPolicy: 'IfNeeded',
    // As written here it cannot fail for an object that the schema lets through. Where somebody has broken it, the
    // first creation says so. With Ignore nothing would, and the promise for which it was installed would be gone.
    failurePolicy: 'Fail',
  },
})

/** A string of CEL, whose escapes are those of JSON. */
const cel = (text) => JSON.stringify(text)

const addition = (at, value) =>
  `JSONPatch{op: "add", path: "/metadata/finalizers${at}", value: ${value}}`

export const atBirthBinding = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'MutatingAdmissionPolicyBinding',
  metadata: { name: atBirth },
  spec: { policyName: atBirth },
}
