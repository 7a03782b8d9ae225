/** What an operation shows as an example: parameters by name, the JSON body it takes, and the one it answers with. */
export interface OperationExamples {
  readonly parameters?: Readonly<Record<string, string>>;
  readonly request?: unknown;
  readonly response?: unknown;
}
