/** What is asked about keys and members, and what is changed. */

/** Keys of the site, the newest first. */
export const KEYS_DOCUMENT = `query keys($tenantId: ID, $after: String) {
  tenant(tenantId: $tenantId) {
    keys(first: 50, after: $after) {
      nodes { keyId name prefix last4 scopes createdAt expiresAt lastUsedAt revokedAt }
      pageInfo { hasNextPage endCursor }
    }
  }
}`;

/** Authors on the roster. */
export const MEMBERS_DOCUMENT = `query members($tenantId: ID, $after: String) {
  tenant(tenantId: $tenantId) {
    members(first: 50, after: $after) { nodes { authorId email userId accepted inviteToken } pageInfo { hasNextPage endCursor } }
  }
}`;

/** Mints a key; its token is in this answer alone. */
export const MINT_KEY_DOCUMENT = `mutation mintKey($tenantId: ID, $name: String!, $scopes: [MintableScope!]!, $expiresAt: EpochMs, $test: Boolean) {
  mintKey(input: { tenantId: $tenantId, name: $name, scopes: $scopes, expiresAt: $expiresAt, test: $test }) {
    ... on MintKeyPayload { keyId token }
    ... on Refusal { code message }
  }
}`;

/** Mints the key that the WordPress plugin connects with. */
export const MINT_CONNECT_KEY_DOCUMENT = `mutation mintConnectKey($tenantId: ID, $name: String!) {
  mintConnectKey(input: { tenantId: $tenantId, name: $name }) {
    ... on MintConnectKeyPayload { keyId token }
    ... on Refusal { code message }
  }
}`;

/** Ends a key. */
export const REVOKE_KEY_DOCUMENT = `mutation revokeKey($tenantId: ID, $keyId: ID!) {
  revokeKey(input: { tenantId: $tenantId, keyId: $keyId }) {
    ... on RevokeKeyPayload { keyId }
    ... on Refusal { code message }
  }
}`;

/** Invites an author by e-mail. */
export const INVITE_DOCUMENT = `mutation inviteMember($tenantId: ID, $authorId: String!, $email: String!) {
  inviteMember(input: { tenantId: $tenantId, authorId: $authorId, email: $email }) {
    ... on InviteMemberPayload { authorId inviteToken expiresAt }
    ... on Refusal { code message }
  }
}`;

/** Takes an invitation back. */
export const REVOKE_INVITATION_DOCUMENT = `mutation revokeInvitation($tenantId: ID, $authorId: String!) {
  revokeInvitation(input: { tenantId: $tenantId, authorId: $authorId }) {
    ... on RevokeInvitationPayload { authorId }
    ... on Refusal { code message }
  }
}`;

/** Takes an author off the roster. */
export const REMOVE_MEMBER_DOCUMENT = `mutation removeMember($tenantId: ID, $authorId: String!) {
  removeMember(input: { tenantId: $tenantId, authorId: $authorId }) {
    ... on RemoveMemberPayload { authorId }
    ... on Refusal { code message }
  }
}`;

/** Erases who an author is. */
export const ERASE_MEMBER_DOCUMENT = `mutation eraseMember($tenantId: ID, $authorId: String!) {
  eraseMember(input: { tenantId: $tenantId, authorId: $authorId }) {
    ... on EraseMemberPayload { authorId }
    ... on Refusal { code message }
  }
}`;

/** A key as the screens read it. */
export interface Key {
  readonly keyId: string;
  readonly name: string;
  readonly prefix: string;
  readonly last4: string;
  readonly scopes: readonly string[];
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
}

/** An author on the roster. */
export interface Member {
  readonly authorId: string;
  readonly email: string;
  readonly userId: string | null;
  readonly accepted: boolean;
  readonly inviteToken: string | null;
}

/** A key just minted. */
export interface Minted {
  readonly keyId: string;
  readonly token: string;
}
