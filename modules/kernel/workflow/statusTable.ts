/** Where a workflow stands, by name; times as ISO text. */
export type Status = Readonly<Record<string, string | number | null>>;

/** A status as the table that Temporal's UI shows. What others wrote, such as a receiver's error, stays text. */
export function statusTable(status: Status): string {
  const rows = Object.entries(status).filter(([, value]) => value !== null);
  return ['| | |', '|---|---|', ...rows.map(([name, value]) => `| ${name} | ${plain(String(value))} |`)].join('\n');
}

function plain(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\|<>[\]()`*_!]/g, '\\$&');
}
