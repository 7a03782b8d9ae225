import type { OperationExamples } from './shape.ts';
import { HOST, RESOURCE } from './values.ts';

const found = {
  id: `${HOST}/articles/`,
  title: `/articles/ of ${HOST}`,
  seller: HOST,
  packager: 'api.example',
  licenseurl: `https://api.example/_svc/discovery/${HOST}/license.xml`,
  reporturl: 'https://api.example/_svc/usage',
  scope: { scope: 1, ause: 5, pricetype: 0, unitprice: 0.001, cur: 'USD', max: 0, ctype: [0] },
  retrieval: { auth: 4, endpoint: `https://${HOST}/articles/`, type: [0] },
  ext: { pattern: '/articles/', citationprice: 0.005 },
};

/** Examples of packages of IAB CoMP. */
export const compExamples: Readonly<Record<string, OperationExamples>> = {
  findCompPackages: {
    parameters: { host: HOST },
    request: { aisystem: { name: 'reader.example', aisysuse: { lid: 'NONE', aiauth: 0, uri: [RESOURCE], function: [3] } } },
    response: { package: found, packages: [found] },
  },
};
