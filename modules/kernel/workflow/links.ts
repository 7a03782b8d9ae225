/** Where operators read Temporal's UI. */
export interface TemporalUi {
  /** Undefined: nobody said. */
  readonly uiUrl: string | undefined;
  readonly namespace: string;
}

/** Addresses in Temporal's UI; null where that of the UI is not known. */
export interface WorkflowLinks {
  /** Of one workflow by its id; null without an id. */
  workflow(workflowId: string | null): string | null;
  /** Of the list that a query finds, which is never a dead end. */
  found(query: string): string | null;
}

/** Links into Temporal's UI. For operators alone: a page there shows payments of other sites. */
export function linksInto({ uiUrl, namespace }: TemporalUi): WorkflowLinks {
  const workflows =
    uiUrl === undefined ? null : `${uiUrl.replace(/\/+$/, '')}/namespaces/${encodeURIComponent(namespace)}/workflows`;
  return {
    workflow: (workflowId) =>
      workflows === null || workflowId === null ? null : `${workflows}/${encodeURIComponent(workflowId)}`,
    found: (query) => (workflows === null ? null : `${workflows}?query=${encodeURIComponent(query)}`),
  };
}
