export default async function Article({ params }) {
  const { slug } = await params;
  return <h1>{slug}</h1>;
}
