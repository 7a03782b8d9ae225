/** `npm run generate`: writes every generated document anew and says which changed. */
import { writeGenerated } from './check/generated.ts';

const changed = await writeGenerated();
console.log(changed.length === 0 ? 'Nothing changed.' : `Written: ${changed.join(', ')}`);
