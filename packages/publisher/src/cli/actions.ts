/** What to do, by the words of enforce-status. */
const SENTENCES: Readonly<Record<string, string>> = {
  verify_host:
    'Prove that the host is yours: the owner opens it (mutation openHost), publishes what the answer says, and has it checked ' +
    '(checkHost). By REST: POST /_svc/verify-host.',
  remove_cname: 'Two gates are in front of this host: remove the CNAME to the fleet, or the package in your app.',
  reconnect_sdk: 'The gate has been silent for days: check that the package runs in your app, with SVC_URL and SVC_API_KEY set.',
  install_code: 'No gate has ever reported for this host: put the package in front of its pages.',
  fix_dns: 'The host no longer points to the fleet: set its DNS record again.',
  rotate_key: 'The gate uses a rejected key: make a new one and give it to your app.',
  upgrade_plan: 'The plan of this site does not include the API: change the plan.',
  wait: 'Nothing to do: the gate has reported, but not within a day.',
};

/** The sentence for a `nextAction`; unknown ones are shown as they are. */
export function actionSentence(nextAction: string): string {
  return SENTENCES[nextAction] ?? `The service says: ${nextAction}.`;
}
