import htm from 'htm';
import type { ComponentChildren, VNode } from 'preact';
import { h, render } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

/** What the package exports in browsers; its types describe the CommonJS build. */
interface Binder {
  bind(make: typeof h): (strings: TemplateStringsArray, ...values: readonly unknown[]) => VNode;
}

/** What can stand between two tags. */
export type View = ComponentChildren;

/** Markup as a tagged template: what is put into it is text or nodes, never markup, so that hostile text stays text. */
export const html = (htm as unknown as Binder).bind(h);

export { render, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState };
